import { createInjector } from "typed-inject";
import { lookUpIn } from "../../support/lookups.mjs";

export default {
  name: "typed-inject",
  entry: import.meta.resolve("typed-inject"),
  program: `export { createInjector } from "typed-inject";`,
  uses: "`createInjector()`, `resolve(name)`",
  open(value) {
    const injector = createInjector().provideValue("value", value);
    return {
      lookUp: lookUpIn(() => injector.resolve("value")),
    };
  },
  async startAndStop(resources) {
    const root = createInjector();
    let injector = root;
    for (const [index, { name, open, close }] of resources.entries()) {
      // What it closes is what has a method dispose.
      const build = (before) => {
        const value = open(before?.value);
        return { value, dispose: () => close(value) };
      };
      build.inject = index === 0 ? [] : [resources[index - 1].name];
      injector = injector.provideFactory(name, build);
    }
    injector.resolve(resources.at(-1).name);
    await root.dispose();
  },
  cannot: {
    "after-await": "no ambient lookup: the injector is handed on",
    retry: "builds nothing asynchronously",
  },
};
