import { expect, jest, test } from "@jest/globals";
import { ContextKey, MissingContextError } from "../../../src/context/index.js";
import { isTidegateError } from "../../../src/errors.js";
import { Environment, EnvironmentStateError, LifespanError } from "../../../src/lifespan/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { errorOf, gate, opening, outcome, Resource, settle } from "../../support/lifespan-helpers.js";

const A = new ContextKey<Resource>("a");
const B = new ContextKey<Resource>("b");
const C = new ContextKey<Resource>("c");

test("start resolves to the environment, with the states on the way", async () => {
  const [open, close] = [gate(), gate()];
  const environment = new Environment({
    lifespan: async function* () {
      await open.promise;
      yield;
      await close.promise;
    },
  });
  expect(environment.state).toBe("idle");
  const start = environment.start();
  expect(environment.state).toBe("starting");
  open.open();
  expect(await start).toBe(environment);
  expect(environment.state).toBe("running");
  const stop = environment.stop();
  expect(environment.state).toBe("stopping");
  close.open();
  await stop;
  expect(environment.state).toBe("stopped");
});

test("F80: concurrent starts are one start, and a start of a running environment does nothing", async () => {
  const clock = new ManualClock();
  let starts = 0;
  const environment = new Environment({
    lifespan: async function* () {
      starts += 1;
      await new Promise<void>((resolve) => clock.schedule(50, resolve));
      yield;
    },
  });
  const both = Promise.all([environment.start(), environment.start()]);
  await clock.advance(50);
  expect(await both).toEqual([environment, environment]);
  expect(await environment.start()).toBe(environment);
  expect(starts).toBe(1);
});

test("a failed start closes what it had opened, last first, and rejects with the original error", async () => {
  const log: string[] = [];
  const boom = new Error("boom");
  const environment = new Environment({
    lifespan: async function* (builder) {
      await builder.provideWith(A, new Resource("a", log));
      builder.defer(() => void log.push("deferred"));
      builder.provide(B, new Resource("b", log), (b) => b[Symbol.asyncDispose]());
      await Promise.reject(boom);
      yield;
      log.push("never");
    },
  });
  const both = [environment.start(), environment.start()];
  for (const start of both) await expect(start).rejects.toBe(boom);
  expect(log).toEqual(["open a", "open b", "close b", "deferred", "close a"]);
  expect(environment.state).toBe("idle");
});

test("everything is closed before the failed start rejects", async () => {
  const log: string[] = [];
  const closing = gate();
  const environment = new Environment({
    lifespan: opening((builder) => {
      builder.defer(() => closing.promise);
      throw new Error("boom");
    }),
  });
  const start = environment.start().catch(() => void log.push("rejected"));
  await settle();
  log.push("closed");
  closing.open();
  await start;
  expect(log).toEqual(["closed", "rejected"]);
});

test("F85: when the cleanup of a failed start fails too, the error holds all, with the original as cause", async () => {
  const [original, second, first] = [new Error("start"), new Error("cleanup 2"), new Error("cleanup 1")];
  const environment = new Environment({
    lifespan: opening((builder) => {
      builder.defer(() => {
        throw first;
      });
      builder.defer(() => Promise.reject(second));
      throw original;
    }),
  });
  const error = (await errorOf(() => environment.start())) as Error as AggregateError;
  expect(error).toBeInstanceOf(AggregateError);
  expect(error.errors).toEqual([original, second, first]);
  expect(error.cause).toBe(original);
  expect(environment.state).toBe("idle");
});

test("a failed start is not remembered: the next one runs the lifespan again", async () => {
  let starts = 0;
  const environment = new Environment({
    lifespan: opening(() => {
      starts += 1;
      if (starts === 1) throw new Error("first");
    }),
  });
  await expect(environment.start()).rejects.toThrow("first");
  await environment.start();
  expect([starts, environment.state]).toEqual([2, "running"]);
});

test("while a failed start closes, a stop waits for it and a start joins it", async () => {
  const closing = gate();
  const boom = new Error("boom");
  let starts = 0;
  const environment = new Environment({
    lifespan: opening((builder) => {
      starts += 1;
      if (starts > 1) return;
      builder.defer(() => closing.promise);
      throw boom;
    }),
  });
  const both = [environment.start()];
  both[0]?.catch(() => undefined);
  await settle();
  const stop = environment.stop();
  both.push(environment.start());
  both[1]?.catch(() => undefined);
  expect([environment.state, await outcome(stop)]).toEqual(["starting", "pending"]);
  closing.open();
  await stop; // the error is the start's, not the stop's
  for (const start of both) await expect(start).rejects.toBe(boom);
  expect(environment.state).toBe("idle");
  await environment.start();
  expect(starts).toBe(2);
});

test("start while stopping waits for the stop, then starts", async () => {
  const log: string[] = [];
  const closing = gate();
  const environment = new Environment({
    lifespan: async function* () {
      log.push("up");
      yield;
      await closing.promise;
      log.push("down");
    },
  });
  await environment.start();
  const stop = environment.stop();
  const starts = Promise.all([environment.start(), environment.start()]);
  await settle();
  expect(log).toEqual(["up"]);
  closing.open();
  await Promise.all([stop, starts]);
  expect(log).toEqual(["up", "down", "up"]);
  expect(environment.state).toBe("running");
});

test("a stop that comes after a start which waits for an earlier stop is obeyed: the start rejects", async () => {
  const closing = gate();
  const environment = new Environment({
    lifespan: async function* () {
      yield;
      await closing.promise;
    },
  });
  await environment.start();
  const first = environment.stop();
  const waiting = environment.start();
  const second = environment.stop();
  closing.open();
  await Promise.all([first, second]);
  await expect(waiting).rejects.toThrow(EnvironmentStateError);
  expect(environment.state).toBe("stopped");
});

test("a start that waits for a stop which fails starts all the same", async () => {
  const environment = new Environment({
    lifespan: opening((builder) => {
      builder.defer(() => Promise.reject(new Error("close")));
    }),
  });
  await environment.start();
  const stop = environment.stop();
  const start = environment.start();
  await expect(stop).rejects.toThrow("close");
  await start;
  expect(environment.state).toBe("running");
});

test("a stopped environment starts again, with new values", async () => {
  const log: string[] = [];
  const environment = new Environment({
    lifespan: opening((builder) => void builder.provideWith(A, new Resource("a", log))),
  });
  await environment.start();
  const before = environment.get(A);
  await environment.stop();
  await environment.start();
  expect(environment.get(A)).not.toBe(before);
  await environment.stop();
  expect(log).toEqual(["open a", "close a", "open a", "close a"]);
});

test("a start that times out rejects at once, naming what was provided last and what has not arrived", async () => {
  const clock = new ManualClock();
  const environment = new Environment({
    name: "crawl",
    clock,
    startTimeoutMs: 1_000,
    lifespan: async function* services(builder) {
      await new Promise<void>((resolve) => clock.schedule(100, resolve));
      builder.provide(A, new Resource("a", []));
      await builder.provideWith(B, gate<Resource>().promise);
      yield;
    },
  });
  const start = environment.start();
  start.catch(() => undefined);
  await clock.advance(999);
  expect(environment.state).toBe("starting");
  await clock.advance(1);
  const error = await errorOf(() => start);
  expect(error).toBeInstanceOf(LifespanError);
  expect(error).toMatchObject({ code: "LIFESPAN_INVALID", lifespan: "services", environment: "crawl" });
  expect(error.message).toMatch(
    /"services".*"crawl".*startTimeoutMs \(1000 ms\).*"a", 900 ms before.*arrived yet: b/s,
  );
});

test("after the timeout the generator is driven on and what still arrives is closed; stop() and start() wait for it", async () => {
  const log: string[] = [];
  const clock = new ManualClock();
  let starts = 0;
  let signal: AbortSignal | undefined;
  const environment = new Environment({
    clock,
    startTimeoutMs: 1_000,
    lifespan: async function* (builder) {
      starts += 1;
      if (starts === 1) {
        signal = builder.signal;
        await builder.provideWith(A, new Resource("a", log));
        await new Promise<void>((resolve) => clock.schedule(3_000, resolve));
        await builder.provideWith(B, new Resource("b", log));
      }
      log.push("yield");
      yield;
      log.push("after the yield");
    },
  });
  const error = errorOf(() => environment.start());
  await clock.advance(1_000);
  expect(signal?.reason).toBe(await error);
  expect(environment.state).toBe("stopping");
  const stop = environment.stop();
  await clock.advance(1_999);
  expect(await outcome(stop)).toBe("pending");
  await clock.advance(1);
  await stop;
  expect(log).toEqual(["open a", "open b", "yield", "after the yield", "close b", "close a"]);
  expect([starts, environment.state, clock.pending]).toEqual([1, "idle", 0]);

  await environment.start();
  expect([starts, environment.state, clock.pending]).toEqual([2, "running", 0]);
});

test("a start after one that timed out waits for the old generator", async () => {
  const clock = new ManualClock();
  const hanging = gate();
  const log: string[] = [];
  const environment = new Environment({
    clock,
    startTimeoutMs: 10,
    lifespan: opening(async () => {
      log.push("begin");
      if (log.length === 1) await hanging.promise;
      log.push("opened");
    }),
  });
  environment.start().catch(() => undefined);
  await clock.advance(10);
  const again = environment.start();
  await settle();
  expect(log).toEqual(["begin"]);
  hanging.open();
  await again;
  expect(log).toEqual(["begin", "opened", "begin", "opened"]);
});

test("a cleanup that fails after a timed-out start: stop() has the error, else it is a warning", async () => {
  const warned = jest.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const clock = new ManualClock();
  const hanging = [gate(), gate()];
  let starts = 0;
  const environment = new Environment({
    clock,
    startTimeoutMs: 10,
    lifespan: opening(async (builder) => {
      builder.defer(() => Promise.reject(new Error("cannot close")));
      await hanging[starts++]?.promise;
    }),
  });
  environment.start().catch(() => undefined);
  await clock.advance(10);
  const stop = environment.stop();
  hanging[0]?.open();
  await expect(stop).rejects.toThrow("cannot close");
  expect(warned).not.toHaveBeenCalled();

  environment.start().catch(() => undefined);
  await clock.advance(10);
  hanging[1]?.open();
  await settle();
  expect(warned).toHaveBeenCalledTimes(1);
  warned.mockRestore();
});

test("a start that is done in time leaves no timer, and Infinity arms none", async () => {
  const clock = new ManualClock();
  const environment = new Environment({ clock, startTimeoutMs: 1_000, lifespan: opening(() => undefined) });
  const start = environment.start();
  expect(clock.pending).toBe(1);
  await start;
  expect(clock.pending).toBe(0);
  const patient = new Environment({ clock, startTimeoutMs: Infinity });
  const startPatient = patient.start();
  expect(clock.pending).toBe(0);
  await startPatient;
  const failing = new Environment({
    clock,
    startTimeoutMs: 5,
    lifespan: opening(() => Promise.reject(new Error())),
  });
  await expect(failing.start()).rejects.toThrow();
  expect(clock.pending).toBe(0);
});

test("requires: a key that is not provided rejects the start after closing", async () => {
  const log: string[] = [];
  const environment = new Environment({
    name: "crawl",
    requires: [A, C],
    lifespan: async function* (builder) {
      await builder.provideWith(A, new Resource("a", log));
      yield;
      log.push("after the yield");
    },
  });
  const error = await errorOf(() => environment.start());
  expect(error).toBeInstanceOf(MissingContextError);
  expect(error).toMatchObject({ key: "c", environment: "crawl", provided: ["a"] });
  expect(log).toEqual(["open a", "after the yield", "close a"]);
  expect(environment.state).toBe("idle");
});

test("requires: a parent's value or a default is enough", async () => {
  const withDefault = new ContextKey("d", { defaultValue: () => 1 });
  const parent = new Environment({
    lifespan: opening((builder) => void builder.provide(A, new Resource("a", []))),
  });
  const child = new Environment({ parent, requires: [A, withDefault] });
  await child.start();
  expect(child.state).toBe("running");
  await parent.stop();
});

test("an environment without a lifespan runs and provides nothing", async () => {
  const environment = await new Environment().start();
  expect(environment.name).toBe("environment");
  expect(environment.tryGet(A)).toBeUndefined();
  await environment.stop();
});

test("env.get before the start says to start first; tryGet is undefined, also where the key has a default", async () => {
  const withDefault = new ContextKey("d", { defaultValue: () => 1 });
  const environment = new Environment({ name: "crawl" });
  const error = await errorOf(() => environment.get(withDefault));
  expect(error).toBeInstanceOf(EnvironmentStateError);
  expect(isTidegateError(error, "ENVIRONMENT_STATE")).toBe(true);
  expect(error).toMatchObject({ environment: "crawl", state: "idle" });
  expect(error.message).toMatch(/await environment\.start\(\) first/);
  expect(environment.tryGet(withDefault)).toBeUndefined();
  await environment.start();
  expect([environment.get(withDefault), environment.tryGet(withDefault)]).toEqual([1, 1]);
  expect(() => environment.get(A)).toThrow(MissingContextError);
  expect(environment.tryGet(A)).toBeUndefined();
  await environment.stop();
  expect(() => environment.get(withDefault)).toThrow(EnvironmentStateError);
  expect(environment.tryGet(withDefault)).toBeUndefined();
});
