import { asFunction, asValue, createContainer } from "awilix";
import { lookUpIn } from "../../support/lookups.mjs";

export default {
  name: "awilix",
  entry: import.meta.resolve("awilix"),
  program: `export { asFunction, asValue, createContainer } from "awilix";`,
  uses: "`createContainer()`, `cradle.value`",
  open(value) {
    const { cradle } = createContainer().register({ value: asValue(value) });
    return {
      lookUp: lookUpIn(() => cradle.value),
    };
  },
  async startAndStop(resources) {
    const container = createContainer();
    for (const [index, { name, open, close }] of resources.entries()) {
      const before = resources[index - 1]?.name;
      const build = before === undefined ? () => open() : (cradle) => open(cradle[before]);
      container.register(name, asFunction(build).singleton().disposer(close));
    }
    container.resolve(resources.at(-1).name);
    await container.dispose();
  },
  asyncValue(build) {
    const container = createContainer().register({ value: asFunction(build).singleton() });
    return () => container.cradle.value;
  },
  cannot: { "after-await": "no ambient lookup: the container is handed on" },
};
