import { ContextKey, Environment, useContext } from "tidegate";
import { lookUpIn } from "../../support/lookups.mjs";

/** @type {import("../adapters.mjs").ContainerAdapter} */
export default {
  name: "tidegate",
  entry: import.meta.resolve("tidegate"),
  program: `export { ContextKey, Environment, useContext } from "tidegate";`,
  uses: "`Environment` with a lifespan, `useContext(KEY)`",
  async open(value) {
    const key = new ContextKey("value");
    const environment = new Environment({
      *lifespan(builder) {
        builder.provide(key, value);
        yield;
      },
    });
    await environment.start();
    return {
      lookUp: lookUpIn(
        () => useContext(key),
        (body) => environment.run(body),
      ),
    };
  },
  async startAndStop(resources) {
    const environment = new Environment({
      *lifespan(builder) {
        let last;
        for (const { name, open, close } of resources) {
          last = builder.provide(new ContextKey(name), open(last), close);
        }
        yield;
      },
    });
    await environment.start();
    await environment.stop();
  },
  asyncValue(build) {
    const key = new ContextKey("value");
    const environment = new Environment({
      async *lifespan(builder) {
        builder.provide(key, await build());
        yield;
      },
    });
    return async () => (await environment.start()).get(key);
  },
  cannot: {},
};
