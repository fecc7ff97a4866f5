import { expect, jest, test } from "@jest/globals";
import { ContextKey, EAGER, tryUseContext, useContext } from "../../../src/context/index.js";
import { currentRun, Environment, EnvironmentStateError } from "../../../src/lifespan/index.js";
import { gate, opening, outcome, settle } from "../../support/lifespan-helpers.js";

const K = new ContextKey<number>("k");

async function started(drainTimeoutMs = 10_000): Promise<Environment> {
  const environment = new Environment({
    drainTimeoutMs,
    lifespan: opening((builder) => void builder.provide(K, 7)),
  });
  return environment.start();
}

test("a synchronous body: its result, in the environment; the run is over when it returns", async () => {
  const environment = await started();
  expect(environment.run(() => [useContext(K), currentRun() !== undefined])).toEqual([7, true]);
  expect(tryUseContext(K)).toBeUndefined();
  await environment.stop();
});

test("F76: a body that throws or rejects: the caller gets that error, the lifespan knows nothing of it, the run is over", async () => {
  const log: string[] = [];
  const environment = new Environment({
    lifespan: async function* () {
      try {
        await Promise.resolve();
        yield;
        log.push("after the yield");
      } catch {
        log.push("caught");
      }
    },
  });
  await environment.start();
  const boom = new Error("E");
  expect(() =>
    environment.run(() => {
      throw boom;
    }),
  ).toThrow(boom);
  await expect(environment.run(() => Promise.reject(boom))).rejects.toBe(boom);
  await environment.stop();
  expect(log).toEqual(["after the yield"]);
});

test("F85: an error of the body and one of the cleanup each reach their caller", async () => {
  const [e0, e1] = [new Error("E0"), new Error("E1")];
  const environment = new Environment({
    lifespan: opening((builder) => {
      builder.defer(() => Promise.reject(e1));
    }),
  });
  await environment.start();
  await expect(environment.run(() => Promise.reject(e0))).rejects.toBe(e0);
  await expect(environment.stop()).rejects.toBe(e1);
});

test("F62: a lazy thenable is settled inside, and the run lasts until then", async () => {
  const environment = await started();
  const lazy = {
    then(resolve: (value: unknown) => void): void {
      resolve(tryUseContext(K));
    },
  } as PromiseLike<unknown>;
  expect(await environment.run(async () => await lazy)).toBe(7);
  expect(await environment.run(() => lazy)).toBe(7);

  expect(await environment.run(async () => lazy)).toBe(7);

  const work = gate<string>();
  const slow = { then: work.promise.then.bind(work.promise) } as PromiseLike<string>;
  const result = environment.run(() => slow);
  const stop = environment.stop();
  expect(await outcome(stop)).toBe("pending");
  work.open("done");
  expect(await result).toBe("done");
  await stop;
});

test("a thenable whose work has begun already is returned as it is and waited for", async () => {
  const environment = await started();
  const work = gate();
  const handle = {
    [EAGER]: work.promise.then(() => undefined),
    then: work.promise.then.bind(work.promise),
    stats: () => 1,
  };
  expect(environment.run(() => handle)).toBe(handle);
  const stop = environment.stop();
  expect(await outcome(stop)).toBe("pending");
  work.open();
  await stop;
});

test("a promise is returned as one of its own, so that a failure which nobody handles stays unhandled", async () => {
  const environment = await started();
  const body = Promise.reject(new Error("boom"));
  const result = environment.run(() => body);
  expect(result).not.toBe(body); // the library looks at the body's, which marks that one as handled
  await expect(result).rejects.toThrow("boom");
  await environment.stop();
});

test("a generator: every step runs inside, and the run lasts until it ends", async () => {
  const environment = await started();
  const generator = environment.run(async function* () {
    yield useContext(K);
    await Promise.resolve();
    yield useContext(K);
  });
  expect(await generator.next()).toEqual({ value: 7, done: false });
  const stop = environment.stop();
  expect(await outcome(stop)).toBe("pending");
  expect(await generator.next()).toEqual({ value: 7, done: false });
  expect(await generator.next()).toEqual({ value: undefined, done: true });
  await stop;
});

test.each(["return", "throw"] as const)("a generator that is ended by %s ends its run", async (step) => {
  const environment = await started();
  const generator = environment.run(function* () {
    yield useContext(K);
  });
  const asyncGenerator = environment.run(async function* () {
    await Promise.resolve();
    yield useContext(K);
  });
  generator.next();
  await asyncGenerator.next();
  const boom = new Error("boom");
  if (step === "throw") {
    expect(() => generator.throw(boom)).toThrow(boom);
    await expect(asyncGenerator.throw(boom)).rejects.toBe(boom);
  } else {
    generator.return();
    await asyncGenerator.return();
  }
  await environment.stop();
});

test("a synchronous generator that throws ends its run; for-of and leaving early do too", async () => {
  const environment = await started();
  const failing = environment.run(function* (): Generator<number> {
    yield 1;
    throw new Error("boom");
  });
  expect(() => [...failing]).toThrow("boom");
  for (const value of environment.run(function* () {
    yield 1;
    yield 2;
  })) {
    expect(value).toBe(1);
    break;
  }
  await environment.stop();
});

test("a generator that was abandoned is closed when the drain ends, so that the stop ends", async () => {
  const environment = await started(0);
  const log: unknown[] = [];
  const abandoned = environment.run(async function* () {
    try {
      await Promise.resolve();
      yield 1;
    } finally {
      log.push(useContext(K));
    }
  });
  await abandoned.next();
  environment.run(function* () {
    yield 1;
  }); // never stepped
  await environment.stop();
  expect(log).toEqual([7]);
});

test("an error while an abandoned generator is closed is a warning", async () => {
  const warned = jest.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const environment = await started(0);
  const abandoned = environment.run(function* () {
    try {
      yield 1;
    } finally {
      throw new Error("cannot close");
    }
  });
  abandoned.next();
  await environment.stop();
  expect(warned).toHaveBeenCalledWith(expect.stringMatching(/cannot close/), expect.anything());
  warned.mockRestore();
});

test("a body that is no function is refused", async () => {
  const environment = await started();
  expect(() => environment.run(7 as never)).toThrow(/"body" must be a function/);
  await environment.stop(); // nothing was counted
});

test("code that outlives the stop gets an error, never a closed value, also after a restart", async () => {
  const environment = await started();
  const go = gate();
  let leftOver!: Promise<unknown[]>;
  await environment.run(async () => {
    leftOver = (async () => {
      await go.promise;
      return [useContext, tryUseContext].map((lookUp) => {
        try {
          return lookUp(K);
        } catch (error) {
          return error;
        }
      });
    })();
    await Promise.resolve();
  });
  await environment.stop();
  await environment.start();
  go.open();
  for (const error of await leftOver) {
    expect(error).toBeInstanceOf(EnvironmentStateError);
    expect((error as Error).message).toMatch(/outlives the start.*"k"/s);
  }
  expect(environment.run(() => useContext(K))).toBe(7);
  await environment.stop();
  await settle();
});
