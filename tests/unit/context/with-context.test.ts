import { expect, test } from "@jest/globals";
import {
  ContextKey,
  NoEnvironmentError,
  tryUseContext,
  useContext,
  withContext,
} from "../../../src/context/index.js";
import { InvalidArgumentError } from "../../../src/errors.js";
import { Environment } from "../../../src/lifespan/index.js";
import { opening } from "../../support/lifespan-helpers.js";

const K1 = new ContextKey<number>("k1");
const K2 = new ContextKey<number | undefined>("k2");

test("F66: a nested override holds inside and is gone outside, also after errors", async () => {
  await withContext(K1, 1, async () => {
    withContext(K1, 2, () => {
      withContext(K2, 3, () => {
        expect([useContext(K1), useContext(K2)]).toEqual([2, 3]);
      });
      expect(tryUseContext(K2)).toBeUndefined();
    });
    expect(useContext(K1)).toBe(1);
    expect(() =>
      withContext(K1, 2, () => {
        throw new Error("sync");
      }),
    ).toThrow("sync");
    expect(useContext(K1)).toBe(1);
    await expect(
      withContext(K1, 2, async () => {
        await Promise.resolve();
        expect(useContext(K1)).toBe(2);
        throw new Error("async");
      }),
    ).rejects.toThrow("async");
    expect(useContext(K1)).toBe(1);
    expect(tryUseContext(K2)).toBeUndefined();
  });
  expect(tryUseContext(K1)).toBeUndefined();
});

test("concurrent overrides do not mix", async () => {
  const read = (value: number): Promise<number> =>
    withContext(K1, value, async () => {
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
      return useContext(K1);
    });
  expect(await Promise.all([read(1), read(2), read(3)])).toEqual([1, 2, 3]);
});

test("an override wins over what the environment provides, and may be undefined", async () => {
  const environment = await new Environment({
    lifespan: opening((builder) => {
      builder.provide(K2, 1);
    }),
  }).start();
  environment.run(() => {
    withContext(K2, undefined, () => {
      expect(useContext(K2)).toBeUndefined();
    });
    expect(useContext(K2)).toBe(1);
  });
  await environment.stop();
});

test("an override around environment.run() holds inside", async () => {
  const environment = await new Environment({
    lifespan: opening((builder) => {
      builder.provide(K1, 1);
    }),
  }).start();
  expect(withContext(K1, 2, () => environment.run(() => useContext(K1)))).toBe(2);
  await environment.stop();
});

test("an override wins over the default of the key", () => {
  const key = new ContextKey<string>("k", { defaultValue: () => "default" });
  expect(withContext(key, "override", () => useContext(key))).toBe("override");
});

test("F62: a lazy thenable is settled in the context that returned it", async () => {
  const lazy = {
    then(resolve: (value: number | undefined) => void): void {
      resolve(tryUseContext(K1));
    },
  } as PromiseLike<number | undefined>;
  const inside = withContext(K1, 7, async () => {
    await Promise.resolve();
    return await lazy;
  });
  expect(await inside).toBe(7);
  expect(await withContext(K1, 7, () => lazy)).toBe(7);

  expect(await withContext(K1, 7, async () => lazy)).toBe(7);
});

test("a promise is returned as it is", () => {
  const promise = Promise.resolve(1);
  expect(withContext(K1, 1, () => promise)).toBe(promise);
});

test("every step of a generator runs in the context that made it, whoever steps it", async () => {
  function* sync(): Generator<number | undefined> {
    yield tryUseContext(K1);
    yield tryUseContext(K1);
  }
  async function* async(): AsyncGenerator<number | undefined> {
    yield tryUseContext(K1);
    await Promise.resolve();
    yield tryUseContext(K1);
  }
  const made = withContext(K1, 7, () => ({ sync: sync(), async: async() }));
  expect([...made.sync]).toEqual([undefined, undefined]); // inside an object nothing is known of them
  expect([...withContext(K1, 7, sync)]).toEqual([7, 7]);
  const values: unknown[] = [];
  for await (const value of withContext(K1, 7, async)) values.push(value);
  expect(values).toEqual([7, 7]);
});

test("leaving a generator early runs its finally block in its context", async () => {
  const seen: unknown[] = [];
  async function* source(): AsyncGenerator<number> {
    try {
      yield 1;
      yield 2;
    } finally {
      await Promise.resolve();
      seen.push(tryUseContext(K1));
    }
  }
  for await (const _ of withContext(K1, 7, source)) break;
  expect(seen).toEqual([7]);
});

test("a key or body that is none is refused", () => {
  expect(() => withContext("k1" as never, 1, () => 1)).toThrow(InvalidArgumentError);
  expect(() => withContext(K1, 1, 2 as never)).toThrow(/"body" must be a function/);
});

test("outside every environment and override the error says what to do", () => {
  expect(() => useContext(K1)).toThrow(NoEnvironmentError);
  expect(() => useContext(K1)).toThrow(/"k1".*app\.run\(\).*environment\.run\(body\).*bindContext/s);
  expect(tryUseContext(K1)).toBeUndefined();
});
