import { createContainer } from "iti";
import { lookUpIn } from "../../support/lookups.mjs";

export default {
  name: "iti",
  entry: import.meta.resolve("iti"),
  program: `export { createContainer } from "iti";`,
  uses: "`createContainer().add(…)`, `get(name)`",
  open(value) {
    const container = createContainer().add({ value: () => value });
    return {
      lookUp: lookUpIn(() => container.get("value")),
    };
  },
  async startAndStop(resources) {
    let container = createContainer();
    for (const [index, { name, open, close }] of resources.entries()) {
      const before = resources[index - 1]?.name;
      container = container
        .add((items) => ({ [name]: () => open(before === undefined ? undefined : items[before]) }))
        .addDisposer({ [name]: close });
    }
    container.get(resources.at(-1).name);
    await container.disposeAll();
  },
  asyncValue(build) {
    const container = createContainer().add({ value: build });
    return () => container.get("value");
  },
  cannot: { "after-await": "no ambient lookup: the container is handed on" },
};
