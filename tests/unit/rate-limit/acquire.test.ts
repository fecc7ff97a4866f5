import { describe, expect, test } from "@jest/globals";
import { Scope } from "../../../src/cancellation/index.js";
import { RateLimiter } from "../../../src/rate-limit/index.js";
import { inScope } from "../../support/ambient.js";
import { labels, setUp } from "./support/set-up.js";

describe("the line", () => {
  test("grants the burst at once and then one by one, in the order of the calls", async () => {
    const { clock, trace, acquire } = setUp(10, 3);
    const names = labels("a", 6);
    for (const label of names) acquire(label);
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a1 t0", "a2 t0", "a3 t0", "a4 t100", "a5 t200", "a6 t300"]);
  });

  test("a small request never overtakes a large one that came first", async () => {
    const { clock, trace, acquire } = setUp(1, 2);
    acquire("first", 2);
    acquire("large", 2);
    await clock.advance(1_000);
    acquire("small", 1);
    await clock.advance(999);
    expect(trace.events).toEqual(["first t0"]);
    await clock.advance(1_001);
    expect(trace.events).toEqual(["first t0", "large t2000", "small t3000"]);
  });

  test("one moment serves all who fit in it", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 10);
    await limiter.acquire(10);
    for (const label of labels("a", 3)) acquire(label, 3);
    limiter.refund(7);
    await clock.advance(0);
    expect(trace.events).toEqual(["a1 t0", "a2 t0"]);
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a1 t0", "a2 t0", "a3 t200"]);
  });

  test("two limiters know nothing of each other", async () => {
    const slow = setUp(1, 1);
    const fast = setUp(10, 1);
    for (const { acquire } of [slow, fast]) for (const label of labels("a", 3)) acquire(label);
    await Promise.all([slow.clock.advance(2_000), fast.clock.advance(2_000)]);
    expect(slow.trace.events).toEqual(["a1 t0", "a2 t1000", "a3 t2000"]);
    expect(fast.trace.events).toEqual(["a1 t0", "a2 t100", "a3 t200"]);
  });

  test("several limiters on one clock have one timer each", async () => {
    const { clock } = setUp(1, 1);
    const limiters = [1, 2, 4].map(
      (rate) => new RateLimiter({ maxRowsPerSecond: rate, clock, burstWindowSecs: 0 }),
    );
    const calls = limiters.map((limiter) => [limiter.acquire(), limiter.acquire(), limiter.acquire()]);
    expect(clock.pending).toBe(3);
    await clock.advance(2_000);
    await Promise.all(calls.flat());
    expect(clock.pending).toBe(0);
  });
});

describe("the order of the checks", () => {
  const aborted = AbortSignal.abort("aborted");
  const bad = { n: -1, signal: aborted };

  /** A limiter that has no token, a full line, and a scope that has ended. */
  function hopeless(): { limiter: RateLimiter; ended: Scope } {
    const { limiter } = setUp(1, 1, { maxQueue: 1 });
    limiter.tryAcquire();
    void limiter.acquire();
    const ended = new Scope();
    ended.release("ended");
    return { limiter, ended };
  }

  test("a bad n comes before everything", async () => {
    const { limiter, ended } = hopeless();
    limiter.close();
    const call = inScope(ended, () => limiter.acquire(bad.n, { signal: aborted, maxWaitMs: 1 }));
    await expect(call).rejects.toMatchObject({ option: "n" });
  });

  test("bad options come before the closed limiter", async () => {
    const { limiter, ended } = hopeless();
    limiter.close();
    const call = inScope(ended, () => limiter.acquire(1, { signal: aborted, maxWaitMs: -1 }));
    await expect(call).rejects.toMatchObject({ option: "maxWaitMs" });
  });

  test("closed comes before the aborted signal", async () => {
    const { limiter, ended } = hopeless();
    limiter.close();
    const call = inScope(ended, () => limiter.acquire(1, { signal: aborted }));
    await expect(call).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
  });

  test("the aborted signal comes before the end of the scope", async () => {
    const { limiter, ended } = hopeless();
    await expect(inScope(ended, () => limiter.acquire(0, { signal: aborted }))).rejects.toBe("aborted");
  });

  test("the end of the scope comes before n = 0", async () => {
    const { limiter, ended } = hopeless();
    await expect(inScope(ended, () => limiter.acquire(0))).rejects.toBe("ended");
  });

  test("n = 0 comes before the full line, the wait and the pause", async () => {
    const { limiter } = hopeless();
    limiter.pause(1_000);
    await limiter.acquire(0, { maxWaitMs: 0 });
    expect(limiter.tryAcquire(0)).toBe(true);
    expect(limiter.estimateWaitMs(0)).toBe(0);
    expect(limiter.stats()).toMatchObject({ granted: 1, grantedTokens: 1, available: 0, queued: 1 });
  });

  test("the full line comes before the wait", async () => {
    const { limiter } = hopeless();
    await expect(limiter.acquire(1, { maxWaitMs: 1 })).rejects.toMatchObject({ code: "QUEUE_FULL" });
  });

  test("the wait comes before the line", async () => {
    const { limiter } = setUp(1, 1);
    await limiter.acquire();
    await expect(limiter.acquire(1, { maxWaitMs: 999 })).rejects.toMatchObject({ code: "WAIT_TOO_LONG" });
    expect(limiter.stats()).toMatchObject({ queued: 0, aborted: 0 });
  });
});
