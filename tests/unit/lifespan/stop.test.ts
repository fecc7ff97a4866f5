import { expect, test } from "@jest/globals";
import { ContextKey, useContext } from "../../../src/context/index.js";
import { Environment, EnvironmentStateError, LifespanError } from "../../../src/lifespan/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { errorOf, gate, opening, outcome, Resource } from "../../support/lifespan-helpers.js";

const A = new ContextKey<Resource>("a");
const B = new ContextKey<Resource>("b");

test("the code after the yield runs first, with everything open; then what is owned and deferred, last first", async () => {
  const log: string[] = [];
  const environment = new Environment({
    lifespan: async function* (builder) {
      await builder.provideWith(A, new Resource("a", log));
      builder.defer(() => void log.push("flush"));
      await builder.provideWith(B, new Resource("b", log));
      yield;
      log.push(`after the yield: ${useContext(A).name}, ${builder.get(B).name}, ${environment.get(B).name}`);
    },
  });
  await environment.start();
  await environment.stop();
  expect(log).toEqual(["open a", "open b", "after the yield: a, b, b", "close b", "flush", "close a"]);
});

test("closers run one after the other: each is waited for before the next", async () => {
  const log: string[] = [];
  const first = gate();
  const environment = new Environment({
    lifespan: opening((builder) => {
      builder.defer(() => void log.push("a"));
      builder.defer(async () => {
        await first.promise;
        log.push("b");
      });
    }),
  });
  await environment.start();
  const stop = environment.stop();
  expect(await outcome(stop)).toBe("pending");
  expect(log).toEqual([]);
  first.open();
  await stop;
  expect(log).toEqual(["b", "a"]);
});

test("F74: every closer runs although others throw, last first, and every error can be found", async () => {
  const log: string[] = [];
  const [e2, e3] = [new Error("E2"), new Error("E3")];
  const environment = new Environment({
    lifespan: opening((builder) => {
      builder.defer(() => void log.push("A"));
      builder.defer(() => {
        log.push("B");
        throw e2;
      });
      builder.defer(() => {
        log.push("C");
        return Promise.reject(e3);
      });
    }),
  });
  await environment.start();
  const error = (await errorOf(() => environment.stop())) as Error as AggregateError;
  expect(log).toEqual(["C", "B", "A"]);
  expect(error).toBeInstanceOf(AggregateError);
  expect(error.errors).toEqual([e3, e2]);
  expect(environment.state).toBe("stopped");
});

test("one error of closing is thrown as it is", async () => {
  const boom = new Error("boom");
  const environment = new Environment({
    lifespan: async function* () {
      yield;
      throw boom;
    },
  });
  await environment.start();
  await expect(environment.stop()).rejects.toBe(boom);
});

test("an error of the code after the yield comes first, and everything is closed", async () => {
  const log: string[] = [];
  const [tail, closer] = [new Error("tail"), new Error("closer")];
  const environment = new Environment({
    lifespan: async function* (builder) {
      await builder.provideWith(A, new Resource("a", log));
      builder.defer(() => Promise.reject(closer));
      yield;
      throw tail;
    },
  });
  await environment.start();
  const error = (await errorOf(() => environment.stop())) as Error as AggregateError;
  expect(error.errors).toEqual([tail, closer]);
  expect(log).toEqual(["open a", "close a"]);
});

test("F83: stop resolves after asynchronous cleanup has finished", async () => {
  const clock = new ManualClock();
  const log: string[] = [];
  const environment = new Environment({
    clock,
    lifespan: async function* () {
      yield;
      log.push("stopping");
      await new Promise<void>((resolve) => clock.schedule(200, resolve));
      log.push("stopped");
    },
  });
  await environment.start();
  const stop = environment.stop().then(() => log.push("closed"));
  await clock.advance(199);
  expect(log).toEqual(["stopping"]);
  await clock.advance(1);
  await stop;
  expect(log).toEqual(["stopping", "stopped", "closed"]);
});

test("a second stop joins the first, with its error", async () => {
  const boom = new Error("boom");
  let closings = 0;
  const environment = new Environment({
    lifespan: opening((builder) => {
      builder.defer(() => {
        closings += 1;
        return Promise.reject(boom);
      });
    }),
  });
  await environment.start();
  const stops = [environment.stop(), environment.stop()];
  for (const stop of stops) await expect(stop).rejects.toBe(boom);
  expect(closings).toBe(1);
  await environment.stop(); // stopped by now: nothing to do
});

test("stop of an environment that never ran does nothing", async () => {
  const environment = new Environment();
  await environment.stop();
  expect(environment.state).toBe("idle");
});

test("await using stops it", async () => {
  const log: string[] = [];
  const environment = new Environment({
    lifespan: opening((builder) => void builder.provideWith(A, new Resource("a", log))),
  });
  await environment.start();
  await environment[Symbol.asyncDispose]();
  expect(environment.state).toBe("stopped");
  expect(log).toEqual(["open a", "close a"]);
});

test("a closer can read what is still open; what is closed is an error that says so", async () => {
  const seen: unknown[] = [];
  const environment = new Environment({
    name: "crawl",
    lifespan: opening(async (builder) => {
      builder.defer(async () => void seen.push(await errorOf(() => useContext(B)), environment.tryGet(B)));
      await builder.provideWith(A, new Resource("a", []));
      builder.defer(() => void seen.push(useContext(A).name, environment.get(A).name));
      await builder.provideWith(B, new Resource("b", []));
    }),
  });
  await environment.start();
  await environment.stop();
  expect(seen.slice(0, 2)).toEqual(["a", "a"]);
  const [, , error, tried] = seen as [unknown, unknown, Error, unknown];
  expect(error).toBeInstanceOf(EnvironmentStateError);
  expect(error).toMatchObject({ environment: "crawl", state: "stopping" });
  expect(error.message).toMatch(/"b" is closed already.*last first/s);
  expect(tried).toBeUndefined();
});

test("closeTimeoutMs bounds each closer: it is named in the error and left behind, the others are closed", async () => {
  const clock = new ManualClock();
  const log: string[] = [];
  const hanging = gate();
  const environment = new Environment({
    name: "crawl",
    clock,
    closeTimeoutMs: 500,
    lifespan: async function* services(builder) {
      await builder.provideWith(A, new Resource("a", log));
      builder.provide(B, new Resource("b", log), () => hanging.promise);
      builder.defer(() => new Promise<void>((resolve) => clock.schedule(499, resolve)));
      yield;
    },
  });
  await environment.start();
  const stop = errorOf(() => environment.stop());
  await clock.advance(499 + 500);
  const error = await stop;
  expect(error).toBeInstanceOf(LifespanError);
  expect(error.message).toMatch(
    /"services".*"crawl".*the disposer of key "b".*closeTimeoutMs \(500 ms\).*left behind/s,
  );
  expect(log).toEqual(["open a", "open b", "close a"]);
  expect([environment.state, clock.pending]).toEqual(["stopped", 0]);
  hanging.fail(new Error("too late to matter")); // no unhandled rejection
});

test("closeTimeoutMs covers the code after the yield too", async () => {
  const clock = new ManualClock();
  const log: string[] = [];
  const environment = new Environment({
    clock,
    closeTimeoutMs: 500,
    lifespan: async function* services(builder) {
      await builder.provideWith(A, new Resource("a", log));
      yield;
      await gate().promise;
    },
  });
  await environment.start();
  const stop = errorOf(() => environment.stop());
  await clock.advance(500);
  expect((await stop).message).toMatch(/the code after the yield of lifespan "services" took longer/);
  expect(log).toEqual(["open a", "close a"]);
});

test("without closeTimeoutMs closing arms no timer", async () => {
  const clock = new ManualClock();
  const environment = new Environment({
    clock,
    lifespan: opening((builder) => {
      builder.defer(() => undefined);
    }),
  });
  await environment.start();
  const stop = environment.stop();
  expect(clock.pending).toBe(0);
  await stop;
});

test("F78: no process signal is listened to", async () => {
  const counts = (): number[] => ["SIGINT", "SIGTERM"].map((signal) => process.listenerCount(signal));
  const before = counts();
  const environment = new Environment({ lifespan: opening(() => undefined) });
  for (let i = 0; i < 20; i += 1) {
    await environment.start();
    expect(counts()).toEqual(before);
    await environment.stop();
  }
  expect(counts()).toEqual(before);
});
