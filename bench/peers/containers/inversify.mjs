import { Container } from "inversify";
import { lookUpIn } from "../../support/lookups.mjs";

export default {
  name: "inversify",
  entry: import.meta.resolve("inversify"),
  program: `export { Container } from "inversify";`,
  uses: "`Container`, dynamic values as singletons, `get(id)`",
  open(value) {
    const id = Symbol("value");
    const container = new Container();
    container.bind(id).toConstantValue(value);
    return {
      lookUp: lookUpIn(() => container.get(id)),
    };
  },
  async startAndStop(resources) {
    const container = new Container();
    for (const [index, { name, open, close }] of resources.entries()) {
      const before = resources[index - 1]?.name;
      container
        .bind(name)
        .toDynamicValue((context) => open(before === undefined ? undefined : context.get(before)))
        .inSingletonScope()
        .onDeactivation(close);
    }
    container.get(resources.at(-1).name);
    await container.unbindAllAsync();
  },
  asyncValue(build) {
    const id = Symbol("value");
    const container = new Container();
    container.bind(id).toDynamicValue(build).inSingletonScope();
    return () => container.getAsync(id);
  },
  cannot: { "after-await": "no ambient lookup: the container is handed on" },
};
