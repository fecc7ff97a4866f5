import { describe, expect, jest, test } from "@jest/globals";
import { TokenBucket } from "../../../src/rate-limit/bucket/token-bucket.js";

// Some of these are much work for a machine that is busy.
jest.setTimeout(30_000);

// One step of a table: at this time, ask for that many; granted or not. The tables are those of golang.org/x/time/rate
// (rate_test.go), whose burst is our capacity and whose 0.1 s is our 100 ms.
type Step = readonly [atMs: number, tokens: number, granted: boolean];

function play(rate: number, capacity: number, steps: readonly Step[], start = capacity): void {
  const bucket = new TokenBucket({ rate, capacity }, start, 0);
  const got = steps.map(([at, tokens]) => [at, tokens, bucket.tryTake(tokens, at)]);
  expect(got).toEqual(steps);
}

describe("tryTake", () => {
  test("burst of 1", () => {
    play(10, 1, [
      [0, 1, true],
      [0, 1, false],
      [0, 1, false],
      [100, 1, true],
      [100, 1, false],
      [100, 1, false],
      [200, 1, true],
      [200, 1, false],
    ]);
  });

  test("burst of 3", () => {
    play(10, 3, [
      [0, 1, true],
      [0, 1, true],
      [0, 1, true],
      [0, 1, false],
      [100, 1, true],
      [200, 1, true],
      [200, 1, false],
      [400, 1, true],
      [400, 1, true],
      [400, 1, false],
      [9_000, 1, true],
      [9_000, 1, true],
      [9_000, 1, true],
      [9_000, 1, false],
    ]);
  });

  test("more than one at a time", () => {
    play(10, 3, [
      [0, 2, true],
      [0, 2, false],
      [0, 1, true],
      [0, 1, false],
      [100, 4, false],
      [100, 1, true],
      [300, 1, true],
      [300, 2, false],
      [400, 2, true],
      [400, 1, false],
      [1_000, 4, false],
      [1_000, 3, true],
    ]);
  });

  test("fractions of a token and of a millisecond", () => {
    play(2.5, 2.5, [
      [0, 2, true],
      [0, 1, false],
      [199.999, 1, false],
      [200, 1, true],
      [599.999, 1, false],
      [600, 1, true],
      [10_600, 3, false],
      [10_600, 2, true],
      [10_799.999, 1, false],
      [10_800, 1, true],
    ]);
  });

  test("a start content", () => {
    play(
      10,
      5,
      [
        [0, 1, false],
        [50, 1, true],
        [50, 1, false],
        [150, 1, true],
      ],
      0.5,
    );
  });

  test("a refusal costs nothing, however often", () => {
    const bucket = new TokenBucket({ rate: 1, capacity: 1 }, 0, 0);
    for (let at = 0; at < 1_000; at += 0.5) expect(bucket.tryTake(1, at)).toBe(false);
    expect(bucket.tryTake(1, 1_000)).toBe(true);
    expect(bucket.taken).toBe(1);
  });

  test("the sums of doubles are a hair low; a nanosecond covers it and nothing more", () => {
    const third = 1_000 / 3;
    const bucket = new TokenBucket({ rate: 3, capacity: 3 }, 3, 0);
    expect(bucket.tryTake(3, 0)).toBe(true);
    expect(bucket.tryTake(1, third)).toBe(true);
    expect(bucket.tryTake(1, third + third)).toBe(true);
    expect(bucket.tryTake(1, third + third + third)).toBe(true);
    expect(bucket.tryTake(1, 4 * third - 2e-6)).toBe(false);
    expect(bucket.tryTake(1, 4 * third)).toBe(true);
  });

  test("the 20,000th grant of a backlog is at its place", () => {
    for (const rate of [3, 7, 0.1, 2.5, 1 / 86_400]) {
      const bucket = new TokenBucket({ rate, capacity: 1 }, 0, 0);
      bucket.lead(1, 0);
      let at = 0;
      for (let k = 1; k <= 20_000; k += 1) {
        at += bucket.headWaitMs(1, at);
        if (!bucket.tryTake(1, at)) throw new Error(`grant ${String(k)} at ${String(rate)}/s is not due`);
        bucket.lead(1, at);
      }
      // Doubles of that size are up to 2 ** -52 of it apart.
      const place = 2e7 / rate;
      expect(Math.abs(at - place)).toBeLessThanOrEqual(Math.max(1e-6, place * 2 ** -52));
    }
  });
});

describe("headWaitMs and estimateMs", () => {
  test("are 0 when it fits, else the exact rest", () => {
    const bucket = new TokenBucket({ rate: 10, capacity: 5 }, 2, 0);
    expect(bucket.headWaitMs(2, 0)).toBe(0);
    expect(bucket.headWaitMs(3, 0)).toBe(100);
    expect(bucket.headWaitMs(3, 40)).toBe(60);
    expect(bucket.headWaitMs(50, 0)).toBe(4_800);
  });

  test("the estimate counts those who have joined", () => {
    const bucket = new TokenBucket({ rate: 10, capacity: 5 }, 0, 0);
    bucket.join(2);
    bucket.join(4);
    expect(bucket.queued).toBe(6);
    expect(bucket.estimateMs(1, 0)).toBe(700);
    bucket.leave(4);
    expect(bucket.estimateMs(1, 0)).toBe(300);
  });
});

describe("the cap", () => {
  test("is the capacity while nobody waits", () => {
    const bucket = new TokenBucket({ rate: 1_000, capacity: 5 }, 0, 0);
    expect(bucket.available(100)).toBe(5);
  });

  test("is 5 ms of rate higher while somebody waits, and comes down when the line empties", () => {
    const bucket = new TokenBucket({ rate: 1_000, capacity: 1 }, 0, 0);
    bucket.join(1);
    bucket.lead(1, 0);
    expect(bucket.available(100)).toBe(6);
    expect(bucket.tryTake(1, 100)).toBe(true);
    bucket.leave(1);
    bucket.lead(undefined, 100);
    expect(bucket.available(100)).toBe(1);
  });

  test("is the cost of a head above the capacity, and what it leaves is at most the next one's", () => {
    const bucket = new TokenBucket({ rate: 10, capacity: 5 }, 0, 0);
    bucket.lead(40, 0);
    expect(bucket.available(60_000)).toBe(40.05);
    bucket.lead(20, 60_000);
    expect(bucket.available(60_000)).toBe(20);
    bucket.lead(2, 60_000);
    expect(bucket.available(60_000)).toBe(5);
    bucket.lead(undefined, 60_000);
    expect(bucket.available(60_000)).toBe(5);
  });

  test("the tail of a late timer stays when a head above the capacity is granted", () => {
    const bucket = new TokenBucket({ rate: 1_000, capacity: 1 }, 0, 0);
    bucket.lead(100, 0);
    expect(bucket.tryTake(100, 104)).toBe(true);
    bucket.lead(1, 104);
    expect(bucket.available(104)).toBe(4);
    bucket.lead(undefined, 104);
    expect(bucket.available(104)).toBe(1);
  });

  test("a refund fills up to it, and never lowers a level that is above it", () => {
    const bucket = new TokenBucket({ rate: 1_000, capacity: 1 }, 0, 0);
    bucket.lead(1, 0);
    expect(bucket.available(4)).toBe(4);
    bucket.refund(1, 4);
    expect(bucket.available(4)).toBe(4);
    bucket.lead(undefined, 4);
    bucket.charge(3, 4);
    bucket.refund(2, 4);
    expect(bucket.available(4)).toBe(0);
    bucket.refund(2, 4);
    expect(bucket.available(4)).toBe(1);
  });
});

describe("pause", () => {
  test("takes nothing until it ends, then one token at most", () => {
    const bucket = new TokenBucket({ rate: 10, capacity: 5 }, 5, 0);
    bucket.pause(1_000, 0);
    expect(bucket.tryTake(1, 999)).toBe(false);
    expect(bucket.pausedForMs(400)).toBe(600);
    expect(bucket.headWaitMs(2, 400)).toBe(700);
    // The end is at 1000, also when the next look is later: 1.5 tokens at 1050.
    expect(bucket.available(1_050)).toBe(1.5);
    expect(bucket.pausedForMs(1_050)).toBe(0);
  });

  test("that is shorter than one that holds changes nothing", () => {
    const bucket = new TokenBucket({ rate: 10, capacity: 5 }, 5, 0);
    bucket.pause(1_000, 0);
    bucket.pause(100, 500);
    expect(bucket.pausedForMs(500)).toBe(500);
    bucket.pause(1_000, 500);
    expect(bucket.pausedForMs(500)).toBe(1_000);
  });

  test("leaves less than a token as it is", () => {
    const bucket = new TokenBucket({ rate: 1, capacity: 5 }, 0, 0);
    bucket.pause(500, 0);
    expect(bucket.available(500)).toBe(0.5);
  });
});

describe("reshape", () => {
  test("keeps the level, cut to the new cap, and goes on at the new rate", () => {
    const bucket = new TokenBucket({ rate: 10, capacity: 10 }, 4, 0);
    bucket.reshape({ rate: 1, capacity: 10 }, 100);
    expect(bucket.available(100)).toBe(5);
    expect(bucket.available(1_100)).toBe(6);
    bucket.reshape({ rate: 1, capacity: 2.5 }, 1_100);
    expect(bucket.available(1_100)).toBe(2.5);
    bucket.charge(4, 1_100);
    bucket.reshape({ rate: 1_000, capacity: 1_000 }, 1_100);
    expect(bucket.available(1_100)).toBe(-1.5);
    expect(bucket.capacity).toBe(1_000);
  });

  test("of an unlimited bucket fills the new one", () => {
    const bucket = new TokenBucket({ rate: Infinity, capacity: Infinity }, 0, 0);
    bucket.charge(1_000, 0);
    bucket.refund(5, 0);
    expect(bucket.tryTake(Number.MAX_SAFE_INTEGER, 0)).toBe(true);
    expect(bucket.headWaitMs(1_000, 0)).toBe(0);
    bucket.reshape({ rate: 3, capacity: 3 }, 0);
    expect(bucket.available(0)).toBe(3);
  });
});
