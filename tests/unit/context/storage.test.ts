import { AsyncLocalStorage } from "node:async_hooks";
import { beforeAll, expect, jest, test } from "@jest/globals";

const made: unknown[] = [];
let leaps = 0;

class CountedStorage<T> extends AsyncLocalStorage<T> {
  constructor() {
    super();
    made.push(this);
  }

  override enterWith(store: T): void {
    leaps += 1;
    super.enterWith(store);
  }
}

beforeAll(() => {
  jest.unstable_mockModule("node:async_hooks", () => ({ AsyncLocalStorage: CountedStorage }));
});

test("one AsyncLocalStorage serves everything, also a second copy of the package, and enterWith is never used", async () => {
  const context = await import("../../../src/context/index.js");
  const { Environment } = await import("../../../src/lifespan/index.js");
  expect(made).toHaveLength(0); // importing does nothing

  const key = new context.ContextKey<number>("k");
  expect(context.tryUseContext(key)).toBeUndefined();
  expect(made).toHaveLength(0); // nor does a lookup, until something was entered
  for (let i = 0; i < 5; i += 1) {
    const environment = new Environment({
      lifespan: async function* (builder) {
        builder.provide(key, i);
        yield;
      },
    });
    await environment.start();
    await environment.run(async () => {
      await Promise.resolve();
      expect(context.useContext(key)).toBe(i);
    });
    await environment.stop();
  }
  expect(made).toHaveLength(1);

  jest.resetModules();
  const copy = await import("../../../src/context/index.js");
  expect(copy.ContextKey).not.toBe(context.ContextKey); // really a second copy
  context.withContext(key, 7, () => {
    expect(copy.useContext(key)).toBe(7);
    expect(copy.withContext(key, 8, () => context.useContext(key))).toBe(8);
  });
  jest.resetModules();
  const third = await import("../../../src/context/index.js");
  const frame = third.deriveFrame(undefined, { overrides: new Map([[key, 9]]) });
  expect(third.runInFrame(frame, () => context.useContext(key))).toBe(9); // enters before it looks anything up
  expect(made).toHaveLength(1);
  expect(leaps).toBe(0);
});
