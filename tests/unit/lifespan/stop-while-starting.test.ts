import { expect, test } from "@jest/globals";
import { ContextKey } from "../../../src/context/index.js";
import { Environment, EnvironmentStateError } from "../../../src/lifespan/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { errorOf, gate, opening, outcome, Resource, settle } from "../../support/lifespan-helpers.js";

const A = new ContextKey<Resource>("a");
const B = new ContextKey<Resource>("b");

function slowEnvironment(clock: ManualClock, log: string[]): Environment {
  return new Environment({
    clock,
    lifespan: async function* (builder) {
      await builder.provideWith(
        A,
        later(clock, 100, () => new Resource("a", log)),
      );
      await builder.provideWith(
        B,
        later(clock, 1_000, () => new Resource("b", log)),
      );
      log.push("yield");
      yield;
      log.push("after the yield");
    },
  });
}

async function later<T>(clock: ManualClock, ms: number, make: () => T): Promise<T> {
  await new Promise<void>((resolve) => clock.schedule(ms, resolve));
  return make();
}

test("F82: stop while starting: start rejects at once, what arrives is closed last first, then stop resolves", async () => {
  const clock = new ManualClock();
  const log: string[] = [];
  const environment = slowEnvironment(clock, log);
  const start = errorOf(() => environment.start());
  await clock.advance(300);
  const reason = new Error("SIGTERM");
  const stop = environment.stop(reason);
  expect(environment.state).toBe("stopping");
  const error = await start;
  expect(error).toBeInstanceOf(EnvironmentStateError);
  expect(error.cause).toBe(reason);
  await clock.advance(799);
  expect(await outcome(stop)).toBe("pending");
  await clock.advance(1); // the lifespan ignores its signal, and B arrives
  await stop;
  expect(log).toEqual(["open a", "open b", "yield", "after the yield", "close b", "close a"]);
  expect(environment.state).toBe("stopped");
  await clock.advance(10_000);
  expect(log).toHaveLength(6);
  expect(clock.pending).toBe(0);
});

test("builder.signal is aborted with the reason; a lifespan that obeys ends early", async () => {
  const log: string[] = [];
  const reason = new Error("SIGTERM");
  let seen: unknown;
  const environment = new Environment({
    lifespan: opening(async (builder) => {
      await builder.provideWith(A, new Resource("a", log));
      await new Promise((_, reject) => {
        builder.signal.addEventListener("abort", () => {
          seen = builder.signal.reason;
          reject(new Error("what a client makes of an abort"));
        });
      });
    }),
  });
  const start = environment.start();
  start.catch(() => undefined);
  await settle();
  await environment.stop(reason); // what the lifespan throws is its answer, no error of the stop
  expect(seen).toBe(reason);
  await expect(start).rejects.toBeInstanceOf(EnvironmentStateError);
  expect(log).toEqual(["open a", "close a"]);
});

test("without a reason the signal carries the error that start rejects with", async () => {
  const arrival = gate();
  let signal!: AbortSignal;
  const environment = new Environment({
    lifespan: opening((builder) => {
      signal = builder.signal;
      return arrival.promise;
    }),
  });
  const start = errorOf(() => environment.start());
  const stop = environment.stop();
  expect(signal.reason).toBe(await start);
  arrival.open();
  await stop;
});

test("F85: an error of the cleanup is the stop's; the reason is the cause of the start's error", async () => {
  const [reason, cleanup] = [new Error("reason"), new Error("cleanup")];
  const environment = new Environment({
    lifespan: opening(async (builder) => {
      builder.defer(() => Promise.reject(cleanup));
      await Promise.resolve();
    }),
  });
  const start = errorOf(() => environment.start());
  await expect(environment.stop(reason)).rejects.toBe(cleanup);
  expect((await start).cause).toBe(reason);
});

test("a second stop joins, and a start waits and then starts", async () => {
  const clock = new ManualClock();
  const log: string[] = [];
  const environment = slowEnvironment(clock, log);
  environment.start().catch(() => undefined);
  await clock.advance(300);
  const stops = Promise.all([environment.stop(), environment.stop()]);
  const again = environment.start();
  await clock.advance(800);
  await stops;
  await clock.advance(1_100);
  await again;
  expect(log.filter((line) => line === "yield")).toHaveLength(2);
  expect(environment.state).toBe("running");
});

test("stop while the parent starts: the child is given up, the parent starts on", async () => {
  const parentOpen = gate();
  const parent = new Environment({ name: "parent", lifespan: opening(() => parentOpen.promise) });
  let childStarts = 0;
  const child = new Environment({ parent, lifespan: opening(() => void (childStarts += 1)) });
  const start = child.start();
  start.catch(() => undefined);
  await child.stop();
  await expect(start).rejects.toBeInstanceOf(EnvironmentStateError);
  expect([child.state, parent.state]).toEqual(["stopped", "starting"]);
  parentOpen.open();
  await parent.start();
  expect([parent.state, childStarts]).toEqual(["running", 0]);
  await parent.stop();
});

test("no environment.run() while starting", async () => {
  const open = gate();
  const environment = new Environment({ lifespan: opening(() => open.promise) });
  const start = environment.start();
  expect(() => environment.run(() => 1)).toThrow(EnvironmentStateError);
  open.open();
  await start;
  expect(environment.run(() => 1)).toBe(1);
});
