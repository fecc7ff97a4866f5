import { afterEach, describe, expect, test } from "@jest/globals";
import { Scope } from "../../../src/cancellation/index.js";
import { LimiterClosedError, observeLimiters, RateBudget } from "../../../src/rate-limit/index.js";
import { inScope } from "../../support/ambient.js";
import { SkewedClock, WatchedClock } from "./support/clocks.js";
import { labels } from "./support/set-up.js";
import { Trace } from "./support/trace.js";

type Name = "requests" | "tokens";

const rates = { requests: { maxRowsPerSecond: 10 }, tokens: { maxRowsPerSecond: 100 } };

function setUp(): { clock: WatchedClock; budget: RateBudget<Name>; trace: Trace } {
  const clock = new WatchedClock();
  return { clock, budget: new RateBudget<Name>(rates, { clock, name: "model" }), trace: new Trace(clock) };
}

let stopWatching = (): void => undefined;
afterEach(() => {
  stopWatching();
});

describe("pause and setRate", () => {
  test("a pause holds every dimension, which then has at most one token", async () => {
    const { clock, budget, trace } = setUp();
    budget.pause(1_000);
    expect(budget.stats().pausedForMs).toBe(1_000);
    for (const label of labels("a", 3)) trace.follow(label, budget.acquire({ requests: 1, tokens: 1 }));
    await clock.advance(2_000);
    expect(trace.events).toEqual(["a1 t1000", "a2 t1100", "a3 t1200"]);
    expect(budget.stats().pausedForMs).toBe(0);
  });

  test("resume ends it for all of them", async () => {
    const { clock, budget, trace } = setUp();
    budget.pause(1_000);
    trace.follow("a", budget.acquire({ requests: 1, tokens: 11 }));
    await clock.advance(300);
    budget.resume();
    expect(budget.stats().dimensions).toMatchObject({ requests: { available: 1 }, tokens: { available: 1 } });
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a t400"]);
  });

  test("while a pause moves the time of the head, no dimension fills above its cap", async () => {
    const clock = new SkewedClock(4);
    const budget = new RateBudget(
      {
        fast: { maxRowsPerSecond: 1_000, burstWindowSecs: 0 },
        slow: { maxRowsPerSecond: 1, burstWindowSecs: 0 },
      },
      { clock },
    );
    await budget.acquire({ slow: 1 });
    void budget.acquire({ fast: 1, slow: 1 });
    await clock.advance(990);
    budget.pause(60_000);
    // The alarm for the old time has not rung yet; its lateness is nobody's loss.
    await clock.advance(13);
    expect(budget.stats().dimensions.fast.available).toBe(1);
  });

  test("what a dimension gains while the head waits for another one is no tail of a late timer", async () => {
    const clock = new WatchedClock();
    const budget = new RateBudget(
      {
        fast: { maxRowsPerSecond: 1_000, burstWindowSecs: 0 },
        slow: { maxRowsPerSecond: 1, burstWindowSecs: 0 },
      },
      { clock },
    );
    const trace = new Trace(clock);
    await budget.acquire({ slow: 1 });
    trace.follow("both", budget.acquire({ fast: 1, slow: 1 }));
    for (const label of labels("a", 2)) trace.follow(label, budget.acquire({ fast: 1 }));
    await clock.advance(2_000);
    expect(trace.events).toEqual(["both t1000", "a1 t1001", "a2 t1002"]);
  });

  test("setRate changes the dimensions that are named, for those in line too, and keeps debt", async () => {
    const { clock, budget, trace } = setUp();
    (await budget.acquire({ requests: 10, tokens: 100 })).settle({ tokens: 150 });
    trace.follow("a", budget.acquire({ tokens: 50 }));
    await clock.advance(100);
    budget.setRate({ tokens: { maxRowsPerSecond: 1_000 }, requests: undefined });
    expect(budget.stats().dimensions).toMatchObject({
      requests: { capacity: 10, available: 1 },
      tokens: { capacity: 1_000, available: -40 },
    });
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a t190"]);
  });
});

describe("stats", () => {
  test("say how each dimension and the line stand", async () => {
    const { clock, budget } = setUp();
    const leave = new AbortController();
    await budget.acquire({ requests: 1, tokens: 100 });
    void budget.acquire({ requests: 2, tokens: 50 });
    void budget.acquire({ tokens: 30 }, { signal: leave.signal }).catch(() => undefined);
    await clock.advance(100);
    leave.abort();
    expect(budget.stats()).toEqual({
      dimensions: {
        requests: { available: 10, capacity: 10, queuedTokens: 2, grantedTokens: 1 },
        tokens: { available: 10, capacity: 100, queuedTokens: 50, grantedTokens: 100 },
      },
      queued: 1,
      granted: 1,
      aborted: 1,
      waitedMs: 200,
      pausedForMs: 0,
    });
  });

  test("a budget without a name is called budget", async () => {
    const budget = new RateBudget(rates, { clock: new WatchedClock() });
    expect(budget.name).toBe("budget");
    budget.close();
    await expect(budget.acquire({ requests: 1 })).rejects.toThrow('"budget"');
  });
});

describe("close", () => {
  test("rejects all who wait with the reason as cause; their rejections are handled", async () => {
    const { clock, budget, trace } = setUp();
    await budget.acquire({ tokens: 100 });
    const calls = labels("a", 3).map((label) => {
      const call = budget.acquire({ requests: 1, tokens: 1 });
      trace.follow(label, call);
      return call;
    });
    const unwatched = budget.acquire({ tokens: 1 });
    budget.close("over");
    budget.close("again");
    // An unhandled rejection is found after a turn of the event loop; jest then fails the test.
    await new Promise((resolve) => setImmediate(resolve));
    expect(trace.events).toEqual(["a1 failed t0", "a2 failed t0", "a3 failed t0"]);
    for (const call of [...calls, unwatched]) await expect(call).rejects.toMatchObject({ cause: "over" });
    expect(() => budget.tryAcquire({ tokens: 1 })).toThrow(LimiterClosedError);
    expect([clock.pending, budget.stats().aborted]).toEqual([0, 4]);
  });

  test("comes with the end of a using block", async () => {
    let call: Promise<unknown>;
    {
      using budget = setUp().budget;
      call = budget.acquire({ tokens: 101 });
    }
    await expect(call).rejects.toBeInstanceOf(LimiterClosedError);
  });
});

test("onIdle resolves when nobody waits any more", async () => {
  const { clock, budget, trace } = setUp();
  await budget.onIdle();
  trace.follow("a", budget.acquire({ tokens: 110 }));
  trace.follow("b", budget.acquire({ requests: 11 }));
  trace.follow("idle", budget.onIdle());
  await clock.advance(1_000);
  expect(trace.events).toEqual(["a t100", "b t200", "idle t200"]);
});

test("the end of the scope around lets who waits in it go", async () => {
  const { clock, budget, trace } = setUp();
  const scope = new Scope();
  await budget.acquire({ tokens: 100 });
  inScope(scope, () => {
    trace.follow("in", budget.acquire({ tokens: 100 }));
  });
  trace.follow("out", budget.acquire({ tokens: 10 }));
  await clock.advance(200);
  scope.release("over");
  await clock.advance(0);
  expect([...trace.events].sort()).toEqual(["in failed t200", "out t200"]);
  expect(trace.reasonOf("in")).toBe("over");
});

test("an observer sees the costs by name", async () => {
  const events: unknown[] = [];
  stopWatching = observeLimiters({
    waited: (event) => events.push(["waited", event]),
    granted: (event) => events.push(["granted", event]),
    left: (event) => events.push(["left", event]),
    paused: (event) => events.push(["paused", event]),
  });
  const { clock, budget } = setUp();
  await budget.acquire({ tokens: 100 });
  void budget.acquire({ requests: 1, tokens: 10 });
  await clock.advance(100);
  void budget.acquire({ tokens: 1 });
  budget.pause(50);
  budget.close("over");
  const all = { limiter: "model" };
  const call: unknown = expect.any(Object);
  expect(events).toEqual([
    ["granted", { ...all, cost: { requests: 0, tokens: 100 }, waitedMs: 0 }],
    ["waited", { ...all, cost: { requests: 1, tokens: 10 }, call }],
    ["granted", { ...all, cost: { requests: 1, tokens: 10 }, waitedMs: 100, call }],
    ["waited", { ...all, cost: { requests: 0, tokens: 1 }, call }],
    ["paused", { ...all, ms: 50 }],
    [
      "left",
      { ...all, cost: { requests: 0, tokens: 1 }, waitedMs: 0, reason: expect.any(LimiterClosedError), call },
    ],
  ]);
});
