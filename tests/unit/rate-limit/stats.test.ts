import { describe, expect, test } from "@jest/globals";
import { setUp } from "./support/set-up.js";

describe("stats", () => {
  test("tells what was granted, tryAcquire included, n = 0 not", async () => {
    const { clock, limiter, acquire } = setUp(10, 5);
    await limiter.acquire(2);
    limiter.tryAcquire();
    limiter.tryAcquire(9);
    await limiter.acquire(0);
    limiter.tryAcquire(0);
    acquire("a", 4);
    expect(limiter.stats()).toEqual({
      available: 2,
      capacity: 5,
      queued: 1,
      queuedTokens: 4,
      granted: 2,
      grantedTokens: 3,
      aborted: 0,
      waitedMs: 0,
      pausedForMs: 0,
    });
    await clock.advance(200);
    expect(limiter.stats()).toMatchObject({
      queued: 0,
      queuedTokens: 0,
      granted: 3,
      grantedTokens: 7,
      available: 0,
    });
  });

  test("tells who left without tokens, whatever the way; who was refused has not waited", async () => {
    const { clock, limiter, acquire } = setUp(1, 1, { maxQueue: 3 });
    const leave = new AbortController();
    await limiter.acquire();
    acquire("aborted", 1, { signal: leave.signal });
    acquire("late", 1, { maxWaitMs: 5_000 });
    acquire("closed", 1);
    acquire("queue full", 1);
    limiter.charge(10);
    expect(limiter.stats()).toMatchObject({ queued: 3, queuedTokens: 3, aborted: 0 });
    leave.abort();
    expect(limiter.stats()).toMatchObject({ queued: 2, queuedTokens: 2, aborted: 1 });
    acquire("too long", 1, { maxWaitMs: 5 });
    await clock.advance(5_000);
    expect(limiter.stats()).toMatchObject({ queued: 1, aborted: 2 });
    limiter.close();
    expect(limiter.stats()).toMatchObject({ queued: 0, queuedTokens: 0, aborted: 3, granted: 1 });
  });

  test("waitedMs is the sum over all, those in line included", async () => {
    const { clock, limiter, acquire } = setUp(1, 1);
    const leave = new AbortController();
    await limiter.acquire();
    acquire("a");
    acquire("b");
    acquire("c", 1, { signal: leave.signal });
    await clock.advance(400);
    expect(limiter.stats().waitedMs).toBe(3 * 400);
    leave.abort();
    await clock.advance(600);
    // a: 1000, b: 1000 so far, c: 400
    expect(limiter.stats().waitedMs).toBe(2_400);
    await clock.advance(1_000);
    expect(limiter.stats().waitedMs).toBe(3_400);
    await clock.advance(60_000);
    expect(limiter.stats().waitedMs).toBe(3_400);
  });

  test("available goes below 0 with debt and above the capacity for a head that needs more", async () => {
    const { clock, limiter, acquire } = setUp(10, 5);
    limiter.charge(8);
    expect(limiter.stats().available).toBe(-3);
    acquire("large", 20);
    await clock.advance(1_800);
    expect(limiter.stats().available).toBe(15);
  });

  test("reading it changes nothing", async () => {
    const { clock, limiter, trace, acquire } = setUp(3, 1);
    acquire("first");
    acquire("a");
    acquire("b");
    for (let step = 0; step < 100; step += 1) {
      limiter.stats();
      await clock.advance(7);
    }
    expect(trace.events).toEqual(["first t0", "a t333.333333", "b t666.666667"]);
  });
});
