import { describe, expect, test } from "@jest/globals";
import { Scope } from "../../../src/cancellation/index.js";
import { perHour, RateBudget } from "../../../src/rate-limit/index.js";
import { inScope } from "../../support/ambient.js";
import { WatchedClock } from "./support/clocks.js";
import { labels } from "./support/set-up.js";
import { Trace } from "./support/trace.js";

type Name = "requests" | "tokens";

/** 10 requests and 100 tokens a second. */
function setUp(options: { maxQueue?: number } = {}): {
  clock: WatchedClock;
  budget: RateBudget<Name>;
  trace: Trace;
} {
  const clock = new WatchedClock();
  const budget = new RateBudget<Name>(
    { requests: { maxRowsPerSecond: 10 }, tokens: { maxRowsPerSecond: 100 } },
    { clock, ...options },
  );
  return { clock, budget, trace: new Trace(clock) };
}

describe("acquire", () => {
  test("waits for the dimension that is short, and takes all or nothing", async () => {
    const { clock, budget, trace } = setUp();
    await budget.acquire({ requests: 1, tokens: 100 });
    trace.follow("a", budget.acquire({ requests: 9, tokens: 50 }));
    await clock.advance(499);
    expect(trace.events).toEqual([]);
    expect(budget.stats().dimensions.requests.available).toBe(10);
    await clock.advance(1);
    expect(trace.events).toEqual(["a t500"]);
    expect(budget.stats().dimensions).toMatchObject({ requests: { available: 1 }, tokens: { available: 0 } });
  });

  test("first in, first out, whichever dimension is short", async () => {
    const { clock, budget, trace } = setUp();
    await budget.acquire({ requests: 10 });
    trace.follow("request", budget.acquire({ requests: 1 }));
    trace.follow("token", budget.acquire({ tokens: 1 }));
    await clock.advance(100);
    expect(trace.events).toEqual(["request t100", "token t100"]);
  });

  test("a dimension of which nothing is asked has no say, also in debt", async () => {
    const { clock, budget, trace } = setUp();
    (await budget.acquire({ tokens: 100 })).settle({ tokens: 1_000 });
    trace.follow("a", budget.acquire({ requests: 1 }));
    trace.follow("b", budget.acquire({ requests: 10, tokens: 0 }));
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a t0", "b t100"]);
  });

  test("more than a capacity is served; the other dimensions do not pile up meanwhile", async () => {
    const { clock, budget, trace } = setUp();
    trace.follow("large", budget.acquire({ requests: 1, tokens: 300 }));
    for (const label of labels("a", 2)) trace.follow(label, budget.acquire({ requests: 10 }));
    await clock.advance(5_000);
    expect(trace.events).toEqual(["large t2000", "a1 t2100", "a2 t3100"]);
    expect(clock.mostPending).toBe(1);
  });

  test("nothing at all is granted in every state of an open budget", async () => {
    const { budget } = setUp({ maxQueue: 1 });
    (await budget.acquire({ requests: 10, tokens: 100 })).settle({ tokens: 500 });
    budget.pause(1_000);
    void budget.acquire({ tokens: 1 });
    const before = budget.stats();
    const permit = await budget.acquire({}, { maxWaitMs: 0 });
    expect(permit.costs).toEqual({ requests: 0, tokens: 0 });
    expect(budget.tryAcquire({ requests: 0 })?.costs).toEqual({ requests: 0, tokens: 0 });
    expect(budget.estimateWaitMs({ requests: 0, tokens: 0 })).toBe(0);
    expect(budget.stats()).toEqual(before);
  });

  test("two windows of one thing: 10 a second and 15 an hour", async () => {
    const clock = new WatchedClock();
    const budget = new RateBudget(
      { second: { maxRowsPerSecond: 10 }, hour: { maxRowsPerSecond: perHour(15), burstWindowSecs: 3_600 } },
      { clock },
    );
    const trace = new Trace(clock);
    const one = { second: 1, hour: 1 };
    for (const label of labels("a", 17)) trace.follow(label, budget.acquire(one));
    await clock.advance(3_600_000);
    expect(trace.events).toEqual([
      ...labels("a", 10).map((label) => `${label} t0`),
      ...["a11 t100", "a12 t200", "a13 t300", "a14 t400", "a15 t500"],
      ...["a16 t240000", "a17 t480000"],
    ]);
  });

  test("a dimension without a limit never holds anyone", async () => {
    const clock = new WatchedClock();
    const budget = new RateBudget(
      { some: { maxRowsPerSecond: 1 }, any: { maxRowsPerSecond: Infinity } },
      { clock },
    );
    const trace = new Trace(clock);
    for (const label of labels("a", 2)) trace.follow(label, budget.acquire({ some: 1, any: 1e9 }));
    expect(budget.estimateWaitMs({ some: 1, any: 1e15 })).toBe(2_000);
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a1 t0", "a2 t1000"]);
    expect(budget.stats().dimensions.any).toMatchObject({ available: Infinity, capacity: Infinity });
  });
});

describe("the order of the checks", () => {
  const aborted = AbortSignal.abort("aborted");
  const bad = { requests: -1 };
  const [short, nothing] = [{ tokens: 1 }, {}];

  /** A budget that has nothing, a full line, and a scope that has ended. */
  function hopeless(): { budget: RateBudget<Name>; ended: Scope } {
    const { budget } = setUp({ maxQueue: 1 });
    budget.tryAcquire({ tokens: 100 });
    void budget.acquire(short);
    const ended = new Scope();
    ended.release("ended");
    return { budget, ended };
  }

  test("bad costs, bad options, closed, signal, scope, nothing at all, maxQueue, maxWaitMs", async () => {
    const { budget, ended } = hopeless();
    const reasonOf = (call: () => Promise<unknown>): Promise<unknown> =>
      inScope(ended, call).then(
        () => "granted",
        (reason: unknown) => reason,
      );
    const outside = (costs: object, maxWaitMs: number): Promise<unknown> =>
      budget.acquire(costs, { maxWaitMs }).then(
        () => "granted",
        (reason: unknown) => reason,
      );
    const withSignal = { signal: aborted, maxWaitMs: 1 };
    expect(await reasonOf(() => budget.acquire(short, withSignal))).toBe("aborted");
    expect(await reasonOf(() => budget.acquire(nothing, { maxWaitMs: 1 }))).toBe("ended");
    expect(await outside(nothing, 1)).toBe("granted");
    expect(await outside(short, 1)).toMatchObject({ code: "QUEUE_FULL" });
    budget.close();
    expect(await reasonOf(() => budget.acquire(bad, { maxWaitMs: -1 }))).toMatchObject({
      option: "costs.requests",
    });
    expect(await reasonOf(() => budget.acquire(short, { maxWaitMs: -1 }))).toMatchObject({
      option: "maxWaitMs",
    });
    expect(await reasonOf(() => budget.acquire(nothing, withSignal))).toMatchObject({
      code: "LIMITER_CLOSED",
    });
  });

  test("maxWaitMs is held against the longest wait of a dimension", async () => {
    const { budget } = setUp();
    budget.tryAcquire({ requests: 10, tokens: 100 });
    await expect(budget.acquire({ requests: 5, tokens: 20 }, { maxWaitMs: 400 })).rejects.toMatchObject({
      code: "WAIT_TOO_LONG",
      estimatedWaitMs: 500,
    });
    expect(budget.stats().queued).toBe(0);
  });
});

describe("tryAcquire", () => {
  test("gives a permit, or undefined and nothing is taken", () => {
    const { budget } = setUp();
    expect(budget.tryAcquire({ requests: 1, tokens: 100 })?.costs).toEqual({ requests: 1, tokens: 100 });
    const before = budget.stats();
    expect(budget.tryAcquire({ requests: 1, tokens: 1 })).toBeUndefined();
    expect(budget.tryAcquire({ requests: 11 })).toBeUndefined();
    expect(budget.stats()).toEqual(before);
  });

  test("gives undefined while anyone waits, whatever for", async () => {
    const { clock, budget } = setUp();
    void budget.acquire({ tokens: 101 });
    expect(budget.tryAcquire({ requests: 1 })).toBeUndefined();
    await clock.advance(10);
    expect(budget.tryAcquire({ requests: 1 })?.costs.requests).toBe(1);
  });
});

test("estimateWaitMs is the longest of the waits that the dimensions need each by itself", () => {
  const { budget } = setUp();
  budget.tryAcquire({ requests: 10, tokens: 100 });
  expect(budget.estimateWaitMs({ requests: 1, tokens: 1 })).toBe(100);
  expect(budget.estimateWaitMs({ requests: 1, tokens: 50 })).toBe(500);
  void budget.acquire({ requests: 2 });
  expect(budget.estimateWaitMs({ tokens: 1 })).toBe(200);
  expect(budget.estimateWaitMs({ requests: 1 })).toBe(300);
  budget.close();
  expect(budget.estimateWaitMs({ tokens: 1 })).toBe(Infinity);
});

test("estimateWaitMs leaves out a debt of which nothing is asked", async () => {
  const { budget } = setUp();
  (await budget.acquire({ tokens: 1 })).settle({ tokens: 1_100 });
  expect(budget.estimateWaitMs({ requests: 1 })).toBe(0);
  expect(budget.estimateWaitMs({ requests: 11 })).toBe(100);
});
