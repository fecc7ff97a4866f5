import { expect, jest, test } from "@jest/globals";
import { ContextKey, MissingContextError, tryUseContext, useContext } from "../../../src/context/index.js";
import { InvalidArgumentError, isTidegateError } from "../../../src/errors.js";
import type { EnvironmentBuilder } from "../../../src/lifespan/index.js";
import { DuplicateProvideError, Environment, EnvironmentStateError } from "../../../src/lifespan/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { errorOf, opening } from "../../support/lifespan-helpers.js";

const K = new ContextKey<number>("k");

async function started(open: (builder: EnvironmentBuilder) => void | Promise<void>): Promise<Environment> {
  return new Environment({ name: "env", lifespan: opening(open) }).start();
}

test("the builder has the clock of the environment, and of a child the parent's", async () => {
  const clock = new ManualClock();
  const clocks: unknown[] = [];
  const parent = new Environment({ clock, lifespan: opening((builder) => void clocks.push(builder.clock)) });
  const child = parent.child((builder) => void clocks.push(builder.clock));
  await child.start();
  await parent.stop();
  expect(clocks).toEqual([clock, clock]);
  expect(clocks[1]).toBe(clock);
});

test("provide returns the value", async () => {
  let returned: unknown;
  const environment = await started((builder) => {
    returned = builder.provide(K, 7);
  });
  expect(returned).toBe(7);
  expect(environment.get(K)).toBe(7);
});

test("F72: undefined, 0, an empty string, false, null and NaN are values like any other", async () => {
  const values = [undefined, 0, "", false, null, NaN];
  const keys = values.map(
    (_, i) => new ContextKey<unknown>(`k${String(i)}`, { defaultValue: () => "default" }),
  );
  const environment = await started((builder) => {
    keys.forEach((key, i) => builder.provide(key, values[i]));
  });
  expect(keys.map((key) => environment.get(key))).toEqual(values);
  expect(keys.map((key) => environment.tryGet(key))).toEqual(values);
  expect(environment.run(() => keys.map((key) => useContext(key)))).toEqual(values);
  expect(environment.run(() => keys.map((key) => tryUseContext(key)))).toEqual(values);
});

test("a borrowed value is not closed, also when it could be", async () => {
  const dispose = jest.fn();
  const key = new ContextKey<Disposable>("d");
  const environment = await started((builder) => {
    builder.provide(key, { [Symbol.dispose]: dispose });
  });
  await environment.stop();
  expect(dispose).not.toHaveBeenCalled();
});

test("a disposer is called with the value, once", async () => {
  const dispose = jest.fn<(value: number) => void>();
  const environment = await started((builder) => {
    builder.provide(K, 7, dispose);
  });
  await environment.stop();
  expect(dispose.mock.calls).toEqual([[7]]);
});

test("providing one key twice is an error that names key, environment and remedy", async () => {
  const error = await errorOf(() =>
    started((builder) => {
      builder.provide(K, 1);
      builder.provide(K, 1);
    }),
  );
  expect(error).toBeInstanceOf(DuplicateProvideError);
  expect(isTidegateError(error, "PROVIDE_DUPLICATE")).toBe(true);
  expect(error).toMatchObject({ key: "k", environment: "env" });
  expect(error.message).toMatch(/"k".*"env".*child.*withContext/s);
});

test("two keys of one name in one environment are an error at provide, for every way to provide", async () => {
  const namesake = new ContextKey<number>("k");
  const error = await errorOf(() =>
    started((builder) => {
      builder.provideLazy(K, () => 1);
      builder.provide(namesake, 2);
    }),
  );
  expect(error).toBeInstanceOf(DuplicateProvideError);
  expect(error.message).toMatch(/Another context key named "k".*rename.*loaded once/s);
  await expect(
    started((builder) => {
      builder.provide(K, 1);
      builder.provideLazy(namesake, () => 2);
    }),
  ).rejects.toBeInstanceOf(DuplicateProvideError);
});

test("a lifespan that catches the refusal goes on with the first value", async () => {
  const environment = await started((builder) => {
    builder.provide(K, 1);
    expect(() => builder.provide(K, 2)).toThrow(DuplicateProvideError);
  });
  expect(environment.get(K)).toBe(1);
  await environment.stop();
});

test("a value that came with a disposer and was refused is closed all the same, but never twice", async () => {
  const closed: string[] = [];
  const key = new ContextKey<string>("s");
  const dispose = (value: string): void => {
    closed.push(value);
  };
  await expect(
    started((builder) => {
      builder.provide(key, "first", dispose);
      try {
        builder.provide(key, "first", dispose);
      } catch {
        builder.provide(key, "second", dispose);
      }
    }),
  ).rejects.toBeInstanceOf(DuplicateProvideError);
  expect(closed).toEqual(["second", "first"]);
});

test("get reads what was provided so far, else the default, else it is a MissingContextError", async () => {
  const withDefault = new ContextKey("d", { defaultValue: () => "default" });
  const environment = await started((builder) => {
    expect(() => builder.get(K)).toThrow(MissingContextError);
    builder.provide(K, 7);
    expect(builder.get(K)).toBe(7);
    expect(builder.get(withDefault)).toBe("default");
    builder.provide(withDefault, "provided");
    expect(builder.get(withDefault)).toBe("provided");
  });
  await environment.stop();
});

test("after the start nothing more is provided; what came with a disposer is closed all the same", async () => {
  const closed: number[] = [];
  let kept!: EnvironmentBuilder;
  const environment = await started((builder) => {
    kept = builder;
  });
  const error = await errorOf(() => kept.provide(K, 7, (value) => void closed.push(value)));
  expect(error).toBeInstanceOf(EnvironmentStateError);
  expect(error.message).toMatch(/"k" came after the start/);
  expect(() => {
    kept.provideLazy(K, () => 1);
  }).toThrow(EnvironmentStateError);
  expect(environment.tryGet(K)).toBeUndefined();
  await environment.stop();
  expect(closed).toEqual([7]);
  expect(() => kept.provide(K, 8, (value) => void closed.push(value))).toThrow(EnvironmentStateError);
  expect(closed).toEqual([7, 8]);
});

test("defer works until everything is closed, and takes its place among the resources", async () => {
  const log: string[] = [];
  let kept!: EnvironmentBuilder;
  const environment = new Environment({
    lifespan: async function* (builder) {
      kept = builder;
      builder.provide(K, 1, () => void log.push("a"));
      builder.defer(() => void log.push("flush before a"));
      yield;
      builder.defer(() => void log.push("deferred after the yield"));
    },
  });
  await environment.start();
  kept.defer(() => void log.push("deferred while running"));
  await environment.stop();
  expect(log).toEqual(["deferred after the yield", "deferred while running", "flush before a", "a"]);
  expect(() => {
    kept.defer(() => undefined);
  }).toThrow(EnvironmentStateError);
});

test("a closer that defers: its cleanup is run too", async () => {
  const log: string[] = [];
  const environment = await started((builder) => {
    builder.defer(() => void log.push("first"));
    builder.defer(() => {
      builder.defer(() => void log.push("late"));
    });
  });
  await environment.stop();
  expect(log).toEqual(["late", "first"]);
});

test("wrong arguments are refused by name", async () => {
  const environment = await started((builder) => {
    expect(() => builder.provide("k" as never, 1)).toThrow(/"key" must be a ContextKey/);
    expect(() => builder.provide(K, 1, 2 as never)).toThrow(/"dispose" must be a function/);
    expect(() => {
      builder.provideLazy(K, 2 as never);
    }).toThrow(/"make" must be a function/);
    expect(() => {
      builder.provideLazy(K, () => 1, 2 as never);
    }).toThrow(/"dispose" must be a function/);
    expect(() => {
      builder.defer(undefined as never);
    }).toThrow(InvalidArgumentError);
    expect(() => builder.get(undefined as never)).toThrow(InvalidArgumentError);
  });
  expect(environment.describe()).toEqual([]);
});
