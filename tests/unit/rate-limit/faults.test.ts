import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { RateLimiter } from "../../../src/rate-limit/index.js";
import { SkewedClock } from "./support/clocks.js";
import { setUp, setUpOn } from "./support/set-up.js";

// Some of these are much work for a machine that is busy.
jest.setTimeout(30_000);

// The faults of DESIGN.md, section 9, that concern a limiter in one process, each replayed against ours: bound and time.

const MAX_DELAY_MS = 2_147_483_647;

describe("2N-1 in a sliding window", () => {
  test("a flood after an almost idle window gets what a token bucket allows", async () => {
    const { clock, limiter } = setUp(20, 10);
    const times: number[] = [];
    const call = (): void => void limiter.acquire().then(() => times.push(clock.now()));
    call();
    await clock.advance(400);
    for (let n = 0; n < 40; n += 1) call();
    await clock.advance(5_000);
    expect(times).toHaveLength(41);
    // In 500 ms: the ten that were saved up and the ten that come in meanwhile; a window counter gives no burst at
    // all after that, or 19 within a few milliseconds.
    expect(mostWithin(times, 50)).toBeLessThanOrEqual(11);
    expect(mostWithin(times, 500)).toBeLessThanOrEqual(20);
  });

  test("without a burst every window of N intervals holds N", async () => {
    const { clock, limiter } = setUp(20, 1);
    const times: number[] = [];
    const call = (): void => void limiter.acquire().then(() => times.push(clock.now()));
    call();
    await clock.advance(475);
    for (let n = 0; n < 40; n += 1) call();
    await clock.advance(5_000);
    expect(times).toHaveLength(41);
    expect(mostWithin(times, 499.999)).toBe(10);
  });
});

/** Most of the times that lie within `windowMs` of one another. */
function mostWithin(times: readonly number[], windowMs: number): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at - from <= windowMs).length));
}

describe("the leak at the millisecond edge", () => {
  // Platforms fire timers up to a millisecond early (M3), so a limiter that trusts its timer is early too.
  test.each([60, 3, 100, 1_000])("timers that fire early do not make %d/s faster", async (rate) => {
    const { clock, limiter } = setUpOn(new SkewedClock(-0.87), rate, 1);
    const times: number[] = [];
    for (let n = 0; n < 50; n += 1) void limiter.acquire().then(() => times.push(clock.now()));
    await clock.advance((50 * 1_000) / rate);
    expect(times).toHaveLength(50);
    times.forEach((at, index) => {
      expect(at).toBeGreaterThan((index * 1_000) / rate - 1e-6);
      expect(at).toBeLessThan((index * 1_000) / rate + 1e-3);
    });
  });

  test("timers that fire late by less than 5 ms do not make it slower", async () => {
    const { clock, limiter } = setUpOn(new SkewedClock(4.5), 1_000, 1);
    const times: number[] = [];
    for (let n = 0; n < 1_001; n += 1) void limiter.acquire().then(() => times.push(clock.now()));
    await clock.advance(2_000);
    expect(times).toHaveLength(1_001);
    expect(times.at(-1)).toBeLessThan(1_000 + 5.5);
    times.forEach((at, index) => {
      expect(at).toBeGreaterThan(index - 1e-6);
    });
  });
});

test("the tail of a late timer is made up behind a large request too", async () => {
  const { clock, limiter } = setUpOn(new SkewedClock(4), 10_000, 1);
  await limiter.acquire();
  let last = 0;
  for (let n = 0; n < 50; n += 1) {
    void limiter.acquire(100);
    void limiter.acquire(1).then(() => (last = clock.now()));
  }
  await clock.advance(2_000);
  expect(last).toBeGreaterThanOrEqual(505 - 1e-6);
  expect(last).toBeLessThan(505 + 5);
});

describe("the wall clock is set", () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  test.each([
    ["back", -3_600_000],
    ["ahead", 3_600_000],
  ])("%s by one hour: nobody waits longer, nobody comes early", async (_way, by) => {
    jest.useFakeTimers();
    const limiter = new RateLimiter({ maxRowsPerSecond: 10, burstWindowSecs: 0 });
    await limiter.acquire();
    let granted = 0;
    const calls = [limiter.acquire(), limiter.acquire()].map((call) => call.then(() => (granted += 1)));
    jest.setSystemTime(Date.now() + by);
    await jest.advanceTimersByTimeAsync(99);
    expect(granted).toBe(0);
    await jest.advanceTimersByTimeAsync(1);
    expect(granted).toBe(1);
    jest.setSystemTime(Date.now() + by);
    await jest.advanceTimersByTimeAsync(100);
    expect(granted).toBe(2);
    await Promise.all(calls);
  });
});

describe("a delay above 2^31-1 ms", () => {
  test("a caller who waits for 58 days waits for 58 days", async () => {
    const { clock, trace, acquire } = setUp(1 / 5_000_000, 1);
    acquire("first");
    acquire("second");
    await clock.advance(4_999_999_999);
    expect(trace.events).toEqual(["first t0"]);
    await clock.advance(2);
    expect(trace.events).toEqual(["first t0", "second t5000000000"]);
    expect(Math.max(...clock.delays)).toBeLessThanOrEqual(MAX_DELAY_MS);
  });

  test("a pause and a deadline may be as long", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    limiter.pause(4_000_000_000);
    acquire("paused", 1, { maxWaitMs: 4_000_000_000 });
    acquire("late", 1, { maxWaitMs: 4_000_001_500 });
    limiter.charge(2);
    await clock.advance(3_999_999_999);
    expect(trace.events).toEqual([]);
    await clock.advance(5_000);
    expect(trace.events).toEqual(["paused t4000000000", "late t4000001000"]);
    expect(Math.max(...clock.delays)).toBeLessThanOrEqual(MAX_DELAY_MS);
  });

  test("the slowest rate that a number can say still holds the line with a timer", async () => {
    const { clock, limiter, acquire, trace } = setUp(Number.MIN_VALUE, 1, { burstWindowSecs: 0 });
    acquire("first");
    acquire("never");
    await clock.advance(MAX_DELAY_MS + 1);
    expect(trace.events).toEqual(["first t0"]);
    expect(clock.pending).toBe(1);
    limiter.setRate({ maxRowsPerSecond: 1 });
    await clock.advance(1_000);
    expect(trace.events).toHaveLength(2);
  });
});
