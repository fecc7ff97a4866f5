import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { InvalidArgumentError } from "../../../src/errors.js";
import { RateLimiter, type RateLimiterOptions } from "../../../src/rate-limit/index.js";
import { labels, setUp } from "./support/set-up.js";
import { Trace } from "./support/trace.js";

// Faults that users of other libraries have reported, replayed: settings, and the
// clock.

describe("F15: a call for nothing is granted at once and spends nothing", () => {
  test("beside a fraction of a token", async () => {
    const { clock, limiter, trace, acquire } = setUp(2, 1);
    acquire("first");
    await clock.advance(250);
    acquire("zero", 0);
    expect(limiter.tryAcquire(0)).toBe(true);
    acquire("P");
    await clock.advance(1_000);
    expect(trace.events).toEqual(["first t0", "zero t250", "P t500"]);
  });

  test("in front of five who wait", async () => {
    const { clock, limiter, trace, acquire } = setUp(2, 1);
    acquire("first");
    for (const label of labels("w", 5)) acquire(label);
    await clock.advance(250);
    acquire("zero", 0);
    expect(limiter.tryAcquire(0)).toBe(true);
    expect(limiter.stats().queued).toBe(5);
    await clock.advance(2_500);
    expect(trace.events).toEqual([
      ...["first t0", "zero t250"],
      ...["w1 t500", "w2 t1000", "w3 t1500", "w4 t2000", "w5 t2500"],
    ]);
  });
});

describe("F16: settings that nobody can mean", () => {
  const BAD: [string, unknown][] = [
    ["maxRowsPerSecond", 0],
    ["maxRowsPerSecond", -1],
    ["maxRowsPerSecond", NaN],
    ["maxRowsPerSecond", "5"],
    ["burstWindowSecs", -1],
    ["burstWindowSecs", NaN],
    ["burstWindowSecs", Infinity],
    ["burstWindowSecs", "1"],
  ];

  test.each(BAD)("a new limiter refuses %s: %p", (option, value) => {
    const options = { maxRowsPerSecond: 5, [option]: value } as RateLimiterOptions;
    expect(() => new RateLimiter(options)).toThrow(InvalidArgumentError);
    expect(() => new RateLimiter(options)).toThrow(`"${option}"`);
  });

  test.each(BAD)("a live limiter refuses %s: %p and stays as it was", async (option, value) => {
    const { clock, limiter, trace, acquire } = setUp(10, 1);
    acquire("first");
    acquire("second");
    expect(() => {
      // The other option would be fine, and must not be taken either.
      limiter.setRate({ maxRowsPerSecond: 1_000, burstWindowSecs: 9, [option]: value });
    }).toThrow(`"${option}"`);
    expect(limiter.stats().capacity).toBe(1);
    await clock.advance(1_000);
    expect(trace.events).toEqual(["first t0", "second t100"]);
  });

  test("Infinity is no limit: 10,000 calls at once", async () => {
    const { clock, limiter } = setUp(Infinity, Infinity, { burstWindowSecs: 0 });
    await Promise.all(Array.from({ length: 10_000 }, () => limiter.acquire()));
    expect(clock.now()).toBe(0);
    expect(clock.delays).toEqual([]);
  });

  test("a burst window of 0 is strict spacing", async () => {
    const { clock, trace, acquire } = setUp(10, 1, { burstWindowSecs: 0 });
    for (const label of labels("a", 3)) acquire(label);
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a1 t0", "a2 t100", "a3 t200"]);
  });

  test("at 1,000,000,001/s the second try in one instant is refused", () => {
    const { limiter } = setUp(1e9 + 1, 1, { burstWindowSecs: 0 });
    expect([limiter.tryAcquire(), limiter.tryAcquire()]).toEqual([true, false]);
  });
});

describe("F24: time is asked for at each call", () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  test("timers that are faked after the import are obeyed", async () => {
    jest.useFakeTimers();
    const limiter = new RateLimiter({ maxRowsPerSecond: 10, burstWindowSecs: 0 });
    await limiter.acquire();
    let granted = false;
    const second = limiter.acquire().then(() => (granted = true));
    await jest.advanceTimersByTimeAsync(99);
    expect(granted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(granted).toBe(true);
    await second;
    expect(jest.getTimerCount()).toBe(0);
  });

  test("a clock of one's own needs no faked globals", async () => {
    const { clock, limiter } = setUp(10, 1);
    const trace = new Trace(clock);
    await limiter.acquire();
    trace.follow("P", limiter.acquire());
    await clock.advance(99);
    expect(trace.events).toEqual([]);
    await clock.advance(1);
    expect(trace.events).toEqual(["P t100"]);
  });
});
