import { expect, jest, test } from "@jest/globals";
import { ContextKey, tryUseContext, useContext, withContext } from "../../../src/context/index.js";
import type { EnvironmentBuilder } from "../../../src/lifespan/index.js";
import { Environment, EnvironmentStateError, LifespanError } from "../../../src/lifespan/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { errorOf, opening, settle } from "../../support/lifespan-helpers.js";

const A = new ContextKey<string>("a");
const B = new ContextKey<string>("b");
const C = new ContextKey<string>("c");

async function started(open: (builder: EnvironmentBuilder) => void): Promise<Environment> {
  return new Environment({ name: "env", lifespan: opening(open) }).start();
}

test("a lazy value is made at its first use, once, and closed once", async () => {
  const make = jest.fn(() => "a");
  const dispose = jest.fn<(value: string) => void>();
  const environment = await started((builder) => {
    builder.provideLazy(A, make, dispose);
  });
  expect(make).not.toHaveBeenCalled();
  expect(environment.run(() => [useContext(A), tryUseContext(A)])).toEqual(["a", "a"]);
  expect(environment.get(A)).toBe("a");
  expect(make).toHaveBeenCalledTimes(1);
  await environment.stop();
  expect(dispose.mock.calls).toEqual([["a"]]);
});

test("one that was never used is neither made by the stop nor closed", async () => {
  const make = jest.fn(() => "a");
  const dispose = jest.fn<(value: string) => void>();
  const environment = await started((builder) => {
    builder.provideLazy(A, make, dispose);
  });
  await environment.stop();
  expect(make).not.toHaveBeenCalled();
  expect(dispose).not.toHaveBeenCalled();
});

test("a make that throws is not remembered", async () => {
  let calls = 0;
  const environment = await started((builder) => {
    builder.provideLazy(A, () => {
      calls += 1;
      if (calls === 1) throw new Error("not yet");
      return `made ${String(calls)}`;
    });
  });
  expect(() => environment.get(A)).toThrow("not yet");
  expect(environment.get(A)).toBe("made 2");
});

test("F69: an async value is made once for concurrent uses and disposed once; a failure is not remembered", async () => {
  const clock = new ManualClock();
  const key = new ContextKey<Promise<{ readonly id: number }>>("db");
  const disposed: number[] = [];
  let calls = 0;
  const environment = await started((builder) => {
    builder.provideLazy(
      key,
      async () => {
        calls += 1;
        const id = calls;
        await new Promise<void>((resolve) => clock.schedule(50, resolve));
        if (id === 1) throw new Error("first fails");
        return { id };
      },
      async (db) => {
        disposed.push((await db).id);
      },
    );
  });
  const use = (): Promise<{ readonly id: number }> => environment.run(async () => useContext(key));
  const failing = Promise.allSettled([use(), use(), use(), use(), use()]);
  await clock.advance(50);
  const errors = (await failing).map((result) => (result as PromiseRejectedResult).reason as Error);
  expect(new Set(errors).size).toBe(1);
  expect(errors[0]?.message).toBe("first fails");

  const uses = Promise.all([use(), use(), use(), use(), use()]);
  await clock.advance(50);
  expect(new Set(await uses).size).toBe(1);
  expect(calls).toBe(2);
  await environment.stop();
  expect(disposed).toEqual([2]);
});

test("a promise that is still pending is waited for before its disposer; one that rejects has nothing to close", async () => {
  const key = new ContextKey<Promise<string>>("p");
  const log: string[] = [];
  let fail!: (error: Error) => void;
  const environment = await started((builder) => {
    builder.provideLazy(
      key,
      () => new Promise<string>((_, reject) => (fail = reject)),
      () => void log.push("disposed"),
    );
  });
  environment.get(key).catch(() => undefined);
  const stopped = environment.stop();
  await settle();
  expect(environment.state).toBe("stopping");
  fail(new Error("no connection"));
  await stopped;
  expect(log).toEqual([]);
});

test("it is made in the environment's own context, whoever asks first", async () => {
  const environment = await started((builder) => {
    builder.provide(B, "the environment's b");
    builder.provideLazy(A, () => `made with ${useContext(B)}`);
  });
  expect(environment.run(() => withContext(B, "an override", () => useContext(A)))).toBe(
    "made with the environment's b",
  );
});

test("last first goes by when it was made", async () => {
  const log: string[] = [];
  const environment = await started((builder) => {
    builder.provideLazy(
      A,
      () => "a",
      () => void log.push("close a"),
    );
    builder.provideLazy(
      B,
      () => "b",
      () => void log.push("close b"),
    );
    builder.defer(() => void log.push("deferred in the lifespan"));
  });
  environment.get(B);
  environment.get(A);
  await environment.stop();
  expect(log).toEqual(["close a", "close b", "deferred in the lifespan"]);
});

test("a lazy value that needs another is closed before it", async () => {
  const log: string[] = [];
  const environment = await started((builder) => {
    builder.provideLazy(
      A,
      () => `a of ${useContext(B)}`,
      () => void log.push(`close a, b is ${useContext(B)}`),
    );
    builder.provideLazy(
      B,
      () => "b",
      () => void log.push("close b"),
    );
  });
  expect(environment.get(A)).toBe("a of b");
  await environment.stop();
  expect(log).toEqual(["close a, b is b", "close b"]);
});

test("a cycle is an error with the path, and is not remembered", async () => {
  let isCyclic = true;
  const environment = await started((builder) => {
    builder.provideLazy(A, () => useContext(B));
    builder.provideLazy(B, () => useContext(C));
    builder.provideLazy(C, () => (isCyclic ? useContext(B) : "c"));
  });
  const error = await errorOf(() => environment.get(A));
  expect(error).toBeInstanceOf(LifespanError);
  expect(error).toMatchObject({ code: "LIFESPAN_INVALID", environment: "env", lifespan: "opened" });
  expect(error.message).toMatch(/need one another: b -> c -> b\./);
  isCyclic = false;
  expect(environment.get(A)).toBe("c");
});

test("a value that needs itself is a cycle too", async () => {
  const environment = await started((builder) => {
    builder.provideLazy(A, () => builder.get(A));
  });
  expect(() => environment.get(A)).toThrow(/a -> a/);
});

test("an asynchronous cycle is seen as long as it closes before the first await", async () => {
  const [P, Q] = [new ContextKey<Promise<string>>("p"), new ContextKey<Promise<string>>("q")];
  const environment = await started((builder) => {
    builder.provideLazy(P, async () => `p of ${await useContext(Q)}`);
    builder.provideLazy(Q, async () => `q of ${await useContext(P)}`);
  });
  await expect(environment.get(P)).rejects.toThrow(/p -> q -> p/);
});

test("the code after the yield may use one for the first time; it is closed with the others", async () => {
  const log: string[] = [];
  const environment = new Environment({
    lifespan: async function* (builder) {
      await Promise.resolve();
      builder.provideLazy(
        A,
        () => "a",
        () => void log.push("close a"),
      );
      yield;
      log.push(useContext(A));
    },
  });
  await environment.start();
  await environment.stop();
  expect(log).toEqual(["a", "close a"]);
});

test("one that is closed already cannot be read by a later closer", async () => {
  let error: unknown;
  const environment = await started((builder) => {
    builder.defer(async () => {
      error = await errorOf(() => useContext(A));
    });
    builder.provideLazy(
      A,
      () => "a",
      () => undefined,
    );
  });
  environment.get(A);
  await environment.stop();
  expect(error).toBeInstanceOf(EnvironmentStateError);
});

test("each start makes its own", async () => {
  let calls = 0;
  const environment = await started((builder) => {
    builder.provideLazy(A, () => `made ${String((calls += 1))}`);
  });
  expect(environment.get(A)).toBe("made 1");
  await environment.stop();
  await environment.start();
  expect(environment.get(A)).toBe("made 2");
});
