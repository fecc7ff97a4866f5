import { describe, expect, test } from "@jest/globals";
import { LimiterClosedError } from "../../../src/rate-limit/index.js";
import { setUp } from "./support/set-up.js";

describe("tryAcquire", () => {
  test("takes what is there, and nothing when it is not all there", async () => {
    const { clock, limiter } = setUp(10, 5);
    expect(limiter.tryAcquire(3)).toBe(true);
    expect(limiter.tryAcquire(3)).toBe(false);
    expect(limiter.stats().available).toBe(2);
    expect(limiter.tryAcquire()).toBe(true);
    await clock.advance(199);
    expect(limiter.tryAcquire(3)).toBe(false);
    await clock.advance(1);
    expect(limiter.tryAcquire(3)).toBe(true);
  });

  test("is false while anyone waits, though the tokens are there", async () => {
    const { clock, limiter, acquire } = setUp(10, 5);
    await limiter.acquire(5);
    acquire("large", 5);
    await clock.advance(400);
    expect(limiter.stats().available).toBe(4);
    expect(limiter.tryAcquire()).toBe(false);
  });

  test("is false for more than the capacity, at any time", async () => {
    const { clock, limiter } = setUp(10, 5);
    await clock.advance(60_000);
    expect(limiter.tryAcquire(6)).toBe(false);
    const leave = new AbortController();
    const large = limiter.acquire(50, { signal: leave.signal });
    await clock.advance(3_000);
    leave.abort();
    await expect(large).rejects.toBe(leave.signal.reason);
    expect(limiter.tryAcquire(6)).toBe(false);
    expect(limiter.tryAcquire(5)).toBe(true);
  });

  test("throws when the limiter is closed", () => {
    const { limiter } = setUp(10, 5);
    limiter.close();
    expect(() => limiter.tryAcquire()).toThrow(LimiterClosedError);
    expect(() => limiter.tryAcquire(0)).toThrow(LimiterClosedError);
  });

  test("is false in a pause", () => {
    const { limiter } = setUp(10, 5);
    limiter.pause(1);
    expect(limiter.tryAcquire()).toBe(false);
  });
});

describe("estimateWaitMs", () => {
  test("is 0 for what would be granted now, and exact for what would not", async () => {
    const { clock, limiter } = setUp(10, 5);
    expect([limiter.estimateWaitMs(), limiter.estimateWaitMs(5)]).toEqual([0, 0]);
    limiter.tryAcquire(5);
    expect([limiter.estimateWaitMs(), limiter.estimateWaitMs(5)]).toEqual([100, 500]);
    await clock.advance(30);
    expect(limiter.estimateWaitMs()).toBe(70);
  });

  test("counts those in line", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 5);
    await limiter.acquire(5);
    acquire("a", 3);
    acquire("b", 4);
    const estimate = limiter.estimateWaitMs(2);
    expect(estimate).toBe(900);
    acquire("c", 2);
    await clock.advance(2_000);
    expect(trace.events.at(-1)).toBe(`c t${String(estimate)}`);
  });

  test("holds for more than the capacity", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 5);
    expect(limiter.estimateWaitMs(25)).toBe(2_000);
    acquire("large", 25);
    await clock.advance(3_000);
    expect(trace.events).toEqual(["large t2000"]);
  });

  test("counts the rest of a pause, and the one token that it leaves", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 5);
    limiter.pause(1_000);
    await clock.advance(400);
    expect([1, 2, 5].map((n) => limiter.estimateWaitMs(n))).toEqual([600, 700, 1_000]);
    acquire("a", 5);
    await clock.advance(2_000);
    expect(trace.events).toEqual(["a t1400"]);
  });

  test("counts debt", () => {
    const { limiter } = setUp(10, 5);
    limiter.charge(7);
    expect(limiter.estimateWaitMs()).toBe(300);
  });

  test("is Infinity when the limiter is closed", () => {
    const { limiter } = setUp(10, 5);
    limiter.close();
    expect(limiter.estimateWaitMs()).toBe(Infinity);
  });

  test("spends nothing and sets no timer", () => {
    const { clock, limiter } = setUp(10, 5);
    limiter.estimateWaitMs(500);
    expect(limiter.stats().available).toBe(5);
    expect(clock.delays).toEqual([]);
  });
});

describe("a request above the capacity", () => {
  test("saves up only for itself: what it leaves behind is one bucket", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 5);
    await limiter.acquire(5);
    const leave = new AbortController();
    acquire("large", 100, { signal: leave.signal });
    await clock.advance(8_000);
    expect(limiter.stats().available).toBe(80);
    leave.abort();
    expect(limiter.stats().available).toBe(5);
    await clock.advance(0);
    expect(trace.events).toEqual(["large failed t8000"]);
  });

  test("leaves the next one its size when that is above the capacity too", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 5);
    await limiter.acquire(5);
    const leave = new AbortController();
    acquire("larger", 100, { signal: leave.signal });
    acquire("large", 30);
    acquire("small");
    await clock.advance(8_000);
    leave.abort();
    await clock.advance(1_000);
    expect(trace.events).toEqual(["large t8000", "larger failed t8000", "small t8100"]);
  });

  test("costs one timer, however large it is", async () => {
    const { clock, acquire, trace } = setUp(1_000, 1);
    acquire("large", 1_000_001);
    await clock.advance(1_000_000);
    expect(trace.events).toEqual(["large t1000000"]);
    expect(clock.delays).toHaveLength(1);
  });
});

describe("refund", () => {
  test("gives back up to the capacity", () => {
    const { limiter } = setUp(10, 5);
    limiter.tryAcquire(4);
    limiter.refund(2);
    expect(limiter.stats()).toMatchObject({ available: 3, grantedTokens: 4 });
    limiter.refund(100);
    expect(limiter.stats().available).toBe(5);
  });

  test("lets those go at once whom it serves", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 5);
    await limiter.acquire(5);
    for (const label of ["a", "b", "c"]) acquire(label);
    await clock.advance(50);
    limiter.refund(2);
    await clock.advance(0);
    expect(trace.events).toEqual(["a t50", "b t50"]);
    await clock.advance(50);
    expect(trace.events).toEqual(["a t50", "b t50", "c t100"]);
  });

  test("counts for a head above the capacity in full", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 5);
    acquire("large", 25);
    limiter.refund(10);
    await clock.advance(2_000);
    expect(trace.events).toEqual(["large t1000"]);
  });

  test("of too much gives those who wait one bucket, no more", async () => {
    const { clock, limiter, trace, acquire } = setUp(1_000, 2);
    await limiter.acquire(2);
    for (const label of ["a", "b", "c", "d"]) acquire(label);
    limiter.refund(100);
    await clock.advance(1);
    expect(trace.events).toEqual(["a t0", "b t0", "c t1"]);
  });

  test("of 0 changes nothing", () => {
    const { limiter } = setUp(10, 5, { initialTokens: 2 });
    limiter.refund(0);
    expect(limiter.stats().available).toBe(2);
  });
});

describe("charge", () => {
  test("makes debt that later callers wait for", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 5);
    limiter.charge(8);
    expect(limiter.stats()).toMatchObject({ available: -3, granted: 0, grantedTokens: 0 });
    acquire("a");
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a t400"]);
  });

  test("moves those who wait already, who keep their order", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 5);
    await limiter.acquire(5);
    acquire("a");
    acquire("b");
    await clock.advance(50);
    limiter.charge(3);
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a t400", "b t500"]);
    expect(clock.mostPending).toBe(1);
  });

  test("is undone by as large a refund", () => {
    const { limiter } = setUp(10, 5, { initialTokens: 1 });
    limiter.charge(50);
    limiter.refund(50);
    expect(limiter.stats().available).toBe(1);
  });
});
