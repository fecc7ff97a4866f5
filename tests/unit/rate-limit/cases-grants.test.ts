import { describe, expect, jest, test } from "@jest/globals";
import { RateLimiter } from "../../../src/rate-limit/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { labels, setUp } from "./support/set-up.js";

// Some of these are much work for a machine that is busy.
jest.setTimeout(30_000);

// Faults that users of other libraries have reported, replayed: when is what granted.

test("F01: work that comes just before a refill gets one burst, not two", async () => {
  const { clock, trace, acquire } = setUp(5, 5);
  await clock.advance(999);
  for (const label of labels("a", 10)) acquire(label);
  await clock.advance(10_000);
  expect(trace.events).toEqual([
    ...["a1 t999", "a2 t999", "a3 t999", "a4 t999", "a5 t999"],
    ...["a6 t1199", "a7 t1399", "a8 t1599", "a9 t1799", "a10 t1999"],
  ]);
});

test("F09: what the head had saved up goes to the next when the head leaves", async () => {
  const { clock, trace, acquire } = setUp(10, 10);
  const leave = new AbortController();
  acquire("first", 10);
  acquire("W1", 10, { signal: leave.signal });
  acquire("W2", 5);
  await clock.advance(500);
  leave.abort();
  acquire("W3", 1);
  await clock.advance(1_000);
  expect(trace.events).toEqual(["first t0", "W2 t500", "W1 failed t500", "W3 t600"]);
});

test("F21: idling stores one bucket, not all the time that has passed", async () => {
  const { clock, trace, acquire } = setUp(1, 1);
  await clock.advance(30_000);
  const names = labels("a", 31);
  for (const label of names) acquire(label);
  await clock.advance(60_000);
  expect(trace.events).toEqual(names.map((name, index) => `${name} t${String(30_000 + index * 1_000)}`));
});

describe("F22: rounding does not add up", () => {
  test("7,001 calls at 7/s end at t1000000", async () => {
    const { clock, limiter } = setUp(7, 1);
    const times: number[] = [];
    for (let call = 0; call < 7_001; call += 1) void limiter.acquire().then(() => times.push(clock.now()));
    await clock.advance(1_000_001);
    expect(times).toHaveLength(7_001);
    expect(times.at(-1)).toBeGreaterThanOrEqual(1_000_000 - 1e-6);
    expect(times.at(-1)).toBeLessThanOrEqual(1_000_000 + 1e-6);
    expect(times[3_500]).toBeCloseTo(500_000, 6);
  });

  test("after ten idle years the eighth call waits a seventh of a minute", async () => {
    const start = 315_576_000_000;
    const { clock, limiter } = setUp(7 / 60, 7);
    await clock.advance(start);
    const times: number[] = [];
    for (let call = 0; call < 8; call += 1)
      void limiter.acquire().then(() => times.push(clock.now() - start));
    await clock.advance(20_000);
    expect(times.slice(0, 7)).toEqual([0, 0, 0, 0, 0, 0, 0]);
    // The clock itself tells only 0.00006 ms apart, that far from its origin.
    expect(times[7]).toBeGreaterThanOrEqual(60_000 / 7 - 1e-3);
    expect(times[7]).toBeLessThanOrEqual(8_572);
  });
});

test("F28: small calls that come later do not starve a large one", async () => {
  const { clock, trace, acquire } = setUp(10, 10);
  acquire("first", 8);
  acquire("L", 10);
  await clock.advance(10);
  const singles = labels("s", 20);
  for (const label of singles) {
    acquire(label);
    await clock.advance(50);
  }
  await clock.advance(3_000);
  expect(trace.events).toEqual([
    "first t0",
    "L t800",
    ...singles.map((name, index) => `${name} t${String(900 + index * 100)}`),
  ]);
});

test("F29: tryAcquire does not take what somebody waits for", async () => {
  const { clock, limiter, trace, acquire } = setUp(5, 5);
  acquire("first", 5);
  acquire("W", 5);
  const tries: boolean[] = [];
  for (const step of [400, 600, 200]) {
    await clock.advance(step);
    tries.push(limiter.tryAcquire());
  }
  expect(tries).toEqual([false, false, true]);
  expect(trace.events).toEqual(["first t0", "W t1000"]);
});

test("F32: work that acquires inside work that has acquired gets its turn", async () => {
  const { clock, limiter, trace } = setUp(10, 2);
  const work = async (name: string): Promise<void> => {
    const outer = limiter.acquire();
    trace.follow(`outer${name}`, outer);
    await outer;
    const inner = limiter.acquire();
    trace.follow(`inner${name}`, inner);
    await inner;
  };
  const all = Promise.all(["1", "2", "3"].map(work));
  await clock.advance(400);
  await all;
  expect(trace.events).toEqual([
    ...["outer1 t0", "outer2 t0", "outer3 t100"],
    ...["inner1 t200", "inner2 t300", "inner3 t400"],
  ]);
});

test("F42: refused tries are free, and no token is lost at a whole number", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ maxRowsPerSecond: 10 / 600, burstWindowSecs: 600, clock });
  let granted = 0;
  for (let call = 0; call < 121; call += 1) {
    if (call > 0) await clock.advance(30_000);
    if (limiter.tryAcquire()) granted += 1;
  }
  expect(granted).toBe(70);
});

describe("F44: what the bucket holds at the start can be set", () => {
  test.each([
    [0, [200, 400, 600, 800, 1_000, 1_200]],
    [2, [0, 0, 200, 400, 600, 800]],
  ])("to %d", async (initialTokens, times) => {
    const { clock, trace, acquire } = setUp(5, 5, { initialTokens });
    const names = labels("a", 6);
    for (const label of names) acquire(label);
    await clock.advance(5_000);
    expect(trace.events).toEqual(names.map((name, index) => `${name} t${String(times[index])}`));
  });

  test("not to more than it holds", () => {
    expect(() => setUp(5, 5, { initialTokens: 9 })).toThrow(
      '"initialTokens" must be a number from 0 to the capacity, 5; got 9.',
    );
  });
});

describe("F102: pauses that overlap", () => {
  test("the latest end counts, and all who wait come back in order at the rate", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 10);
    limiter.pause(2_000);
    const names = labels("a", 5);
    for (const label of names) acquire(label);
    await clock.advance(500);
    limiter.pause(1_000);
    await clock.advance(500);
    limiter.pause(5_000);
    await clock.advance(4_999);
    expect(trace.events).toEqual([]);
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a1 t6000", "a2 t6100", "a3 t6200", "a4 t6300", "a5 t6400"]);
  });

  test("one who leaves in the pause does not hold up the rest", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 10);
    const leave = new AbortController();
    limiter.pause(2_000);
    for (const label of ["a1", "a2"]) acquire(label);
    acquire("a3", 1, { signal: leave.signal });
    for (const label of ["a4", "a5"]) acquire(label);
    await clock.advance(1_000);
    leave.abort(new Error("gone"));
    await clock.advance(5_000);
    expect(trace.events).toEqual(["a3 failed t1000", "a1 t2000", "a2 t2100", "a4 t2200", "a5 t2300"]);
  });
});
