import { expect, jest, test } from "@jest/globals";
import {
  ContextKey,
  currentFrame,
  deriveFrame,
  runInFrame,
  useContext,
  withContext,
} from "../../../src/context/index.js";
import { beginRun, currentRun, Environment, EnvironmentStateError } from "../../../src/lifespan/index.js";
import type { Run } from "../../../src/lifespan/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { errorOf, gate, opening, outcome, settle } from "../../support/lifespan-helpers.js";

const K = new ContextKey<number>("k");

async function started(options: { log?: string[]; drainTimeoutMs?: number } = {}): Promise<{
  readonly environment: Environment;
  readonly clock: ManualClock;
}> {
  const { log = [], ...others } = options;
  const clock = new ManualClock();
  const environment = new Environment({
    name: "crawl",
    clock,
    ...others,
    lifespan: opening((builder) => {
      builder.provide(K, 7, () => void log.push("closed"));
    }),
  });
  await environment.start();
  return { environment, clock };
}

test("a run: its environment, clock, scope and frame", async () => {
  const { environment, clock } = await started();
  const run = beginRun(environment);
  expect(run.environment).toBe(environment);
  expect(run.clock).toBe(clock);
  expect(run.outer).toBeUndefined();
  expect(run.stopRequest).toBeUndefined();
  expect(currentRun()).toBeUndefined();
  run.enter(() => {
    expect(currentRun()).toBe(run);
    expect(currentFrame()).toMatchObject({ scope: run.scope, item: undefined });
    expect(useContext(K)).toBe(7);
  });
  run.end();
  run.end();
  await environment.stop();
});

test("it keeps the overrides of the code that began it, not of who enters it, and not the item", async () => {
  const { environment } = await started();
  const run = withContext(K, 8, () =>
    runInFrame(deriveFrame(currentFrame(), { item: "an item" }), () => beginRun(environment)),
  );
  withContext(K, 9, () => {
    expect(run.enter(() => useContext(K))).toBe(8);
  });
  expect(run.enter(() => currentFrame()?.item)).toBeUndefined();
  run.end();
  await environment.stop();
});

test("a run begun in another knows it, and ends with it", async () => {
  const { environment } = await started();
  const outer = beginRun(environment);
  const inner = outer.enter(() => beginRun(environment));
  expect(inner.outer).toBe(outer);
  const reason = new Error("abort");
  outer.scope.abort(reason);
  expect(inner.scope.signal.reason).toBe(reason);
  inner.end();
  expect(outer.scope.inner.size).toBe(0);
  outer.end();
  await environment.stop();
});

test("code left over from an ended run begins runs outside it, so that a chain of them keeps nothing", async () => {
  const { environment } = await started();
  let run = beginRun(environment);
  for (let i = 0; i < 3; i += 1) {
    run.end();
    const ended = run;
    run = ended.enter(() => beginRun(environment));
    expect(run.outer).toBeUndefined();
    ended.scope.abort(new Error("long over"));
    expect(run.scope.aborted).toBe(false);
  }
  run.end();
  await environment.stop();
});

test("without a run, stop neither waits nor arms a timer", async () => {
  const { environment, clock } = await started();
  const stop = environment.stop();
  expect(clock.pending).toBe(0);
  await stop;
});

test("stop refuses new runs, tells those that go on, waits for them and only then closes", async () => {
  const log: string[] = [];
  const { environment, clock } = await started({ log });
  const run = beginRun(environment);
  const listener = jest.fn();
  run.onStopRequest(listener);
  const reason = new Error("SIGTERM");
  const stop = environment.stop(reason);
  expect(run.stopRequest).toEqual({ reason });
  expect(listener.mock.calls).toEqual([[reason]]);
  const refused = await errorOf(() => beginRun(environment));
  expect(refused).toBeInstanceOf(EnvironmentStateError);
  expect(refused).toMatchObject({ environment: "crawl", state: "stopping" });
  expect(() => environment.run(() => 1)).toThrow(EnvironmentStateError);
  await clock.advance(9_999);
  expect([await outcome(stop), run.scope.aborted, ...log]).toEqual(["pending", false]);
  expect(run.enter(() => useContext(K))).toBe(7);
  expect(environment.get(K)).toBe(7);
  run.end();
  await stop;
  expect(log).toEqual(["closed"]);
  expect(clock.pending).toBe(0);
});

test("after drainTimeoutMs (10 s) the runs left are aborted with the reason, and still waited for", async () => {
  const log: string[] = [];
  const { environment, clock } = await started({ log });
  const run = beginRun(environment);
  const { signal } = run.scope;
  const reason = new Error("SIGTERM");
  const stop = environment.stop(reason);
  await clock.advance(10_000);
  expect(signal.reason).toBe(reason);
  await clock.advance(1_000_000);
  expect([await outcome(stop), ...log]).toEqual(["pending"]);
  run.end();
  await stop;
  expect(log).toEqual(["closed"]);
});

test("without a reason it is an EnvironmentStateError", async () => {
  const { environment, clock } = await started({ drainTimeoutMs: 5 });
  const run = beginRun(environment);
  const stop = environment.stop();
  await clock.advance(5);
  expect(run.scope.reason).toBeInstanceOf(EnvironmentStateError);
  expect(run.stopRequest?.reason).toBe(run.scope.reason);
  run.end();
  await stop;
});

test("drainTimeoutMs 0 aborts at once, Infinity never; neither arms a timer", async () => {
  const hasty = await started({ drainTimeoutMs: 0 });
  const run = beginRun(hasty.environment);
  run.scope.add({
    scopeEnded: () => {
      run.end();
    },
  });
  const stop = hasty.environment.stop();
  expect([run.scope.aborted, hasty.clock.pending]).toEqual([true, 0]);
  await stop;

  const patient = await started({ drainTimeoutMs: Infinity });
  const waiting = beginRun(patient.environment);
  const stopPatient = patient.environment.stop();
  expect(patient.clock.pending).toBe(0);
  expect(await outcome(stopPatient)).toBe("pending");
  waiting.end();
  await stopPatient;
});

test("listeners are called once, in the context in which they were added; they can be taken back", async () => {
  const { environment } = await started();
  const run = beginRun(environment);
  const seen: unknown[] = [];
  run.enter(() => {
    withContext(K, 8, () => {
      run.onStopRequest(() => seen.push(useContext(K)));
    });
    run.scope.signal.addEventListener("abort", () => seen.push(`abort ${String(useContext(K))}`));
    run.onStopRequest(() => seen.push("taken back"))();
  });
  const stop = withContext(K, 9, () => environment.stop());
  void environment.stop();
  expect(seen).toEqual([8]);
  run.onStopRequest((reason) => seen.push(reason)); // told already: at once
  expect(seen[1]).toBe(run.stopRequest?.reason);
  run.end();
  await stop;
});

test("an abort listener of a run runs in the run's context, whoever stops the environment", async () => {
  const { environment } = await started({ drainTimeoutMs: 0 });
  const run = beginRun(environment);
  const seen: unknown[] = [];
  run.scope.signal.addEventListener("abort", () => {
    seen.push(useContext(K));
    run.end();
  });
  await withContext(K, 9, () => environment.stop());
  expect(seen).toEqual([7]);
});

test("a listener that throws harms neither the others nor the closing; the stop has its error", async () => {
  const log: string[] = [];
  const { environment } = await started({ log });
  const run = beginRun(environment);
  const boom = new Error("listener");
  run.onStopRequest(() => {
    throw boom;
  });
  run.onStopRequest(() => {
    run.end();
  });
  await expect(environment.stop()).rejects.toBe(boom);
  expect(log).toEqual(["closed"]);
});

test("while draining, code inside a run may begin runs; the stop waits for them too", async () => {
  const log: string[] = [];
  const { environment } = await started({ log });
  const outer = beginRun(environment);
  const stop = environment.stop();
  const inner = outer.enter(() => beginRun(environment));
  expect(outer.enter(() => environment.run(() => useContext(K)))).toBe(7);
  const nested = inner.enter(() => beginRun(environment));
  nested.end();
  outer.end();
  expect([await outcome(stop), ...log]).toEqual(["pending"]);
  expect(() => outer.enter(() => beginRun(environment))).toThrow(EnvironmentStateError); // outer has ended
  inner.end();
  await stop;
  expect(log).toEqual(["closed"]);
});

test("a run begun while draining is told to stop from the start, unless it is part of an item in flight", async () => {
  const { environment } = await started();
  const main = beginRun(environment);
  const atDepth =
    (depth: number) =>
    <R>(run: Run, body: () => R): R =>
      run.enter(() => runInFrame(deriveFrame(currentFrame(), { item: { depth } }), body));
  const inItem = atDepth(1);
  const before = inItem(main, () => beginRun(environment));
  const stop = environment.stop();
  const ofMain = main.enter(() => beginRun(environment));
  const ofItem = inItem(main, () => beginRun(environment));
  const ofCall = atDepth(0)(main, () => beginRun(environment)); // a call of main that holds a slot is no item
  const deeper = ofItem.enter(() => beginRun(environment));
  const runs = { main, before, ofMain, ofItem, ofCall, deeper };
  const told = Object.entries(runs).flatMap(([name, run]) => (run.stopRequest === undefined ? [] : [name]));
  expect(told).toEqual(["main", "ofMain", "ofCall"]);
  for (const run of Object.values(runs)) run.end();
  await stop;
});

test("a run that has ended before the stop is not waited for", async () => {
  const { environment } = await started();
  beginRun(environment).end();
  await environment.stop();
  expect(environment.state).toBe("stopped");
});

test("no run begins on an environment that does not run: start it first", async () => {
  const environment = new Environment({ name: "crawl" });
  const error = await errorOf(() => environment.run(() => 1));
  expect(error).toBeInstanceOf(EnvironmentStateError);
  expect(error).toMatchObject({ code: "ENVIRONMENT_STATE", environment: "crawl", state: "idle" });
  expect(error.message).toMatch(/await environment\.start\(\) first/);
  await environment.start();
  await environment.stop();
  expect(() => beginRun(environment)).toThrow(EnvironmentStateError);
});

test("a restarted environment has runs of its own", async () => {
  const { environment } = await started();
  const first = beginRun(environment);
  const stop = environment.stop();
  first.end();
  await stop;
  await environment.start();
  const second = beginRun(environment);
  expect(second.stopRequest).toBeUndefined();
  second.end();
  await environment.stop();
  await settle();
  expect(environment.state).toBe("stopped");
});

test("a body's promise is waited for: a drain lets it end", async () => {
  const log: string[] = [];
  const { environment } = await started({ log });
  const work = gate();
  const result = environment.run(async () => {
    await work.promise;
    log.push(`end of work, ${String(useContext(K))}`);
  });
  const stop = environment.stop();
  work.open();
  await Promise.all([result, stop]);
  expect(log).toEqual(["end of work, 7", "closed"]);
});
