import { describe, expect, test } from "@jest/globals";
import { KeyedRateLimiter, type RateLimiter } from "../../../src/rate-limit/index.js";
import { SkewedClock, type WatchedClock } from "./support/clocks.js";
import { setUpKeyed } from "./support/keyed.js";
import { Trace } from "./support/trace.js";

// Reading `size` makes the keyed limiter look at all its keys, so it says which of them could not be dropped.

describe("a key is dropped", () => {
  test("once its bucket is full again, and not a hair before", async () => {
    const { clock, keyed } = setUpKeyed(1, 10);
    const hair = 2 ** -30; // milliseconds; sums of it are exact
    await keyed.acquire("a", 3);
    await clock.advance(3_000 - hair);
    const before = keyed.for("a");
    expect(keyed.size).toBe(1);
    expect(keyed.for("a")).toBe(before);
    await clock.advance(hair);
    expect(keyed.size).toBe(0);
    expect(keyed.for("a")).not.toBe(before);
  });

  test("when it was asked for, and nothing was taken", async () => {
    const { keyed } = setUpKeyed(1, 10);
    keyed.for("a");
    await keyed.acquire("b", 0);
    expect(keyed.tryAcquire("c", 11)).toBe(false);
    expect(keyed.size).toBe(0);
  });

  test("alone: the others stay", async () => {
    const { clock, keyed } = setUpKeyed<number>(1, 10);
    for (let key = 1; key <= 10; key += 1) keyed.tryAcquire(key, key);
    for (let left = 9; left >= 0; left -= 1) {
      await clock.advance(1_000);
      expect(keyed.size).toBe(left);
    }
  });

  test("however often it comes and goes", async () => {
    const { clock, keyed } = setUpKeyed(1, 1);
    for (let round = 0; round < 50; round += 1) {
      expect(keyed.tryAcquire("a")).toBe(true);
      expect(keyed.tryAcquire("a")).toBe(false);
      expect(keyed.size).toBe(1);
      await clock.advance(1_000);
      expect(keyed.size).toBe(0);
    }
    expect(clock.delays).toEqual([]);
  });
});

interface Reason {
  readonly why: string;
  /** Gives the key its reason to stay; it is new before. */
  readonly keep: (limiter: RateLimiter) => void;
  /** Takes the reason away. */
  readonly release: (limiter: RateLimiter, clock: WatchedClock) => void | Promise<void>;
}

const REASONS: readonly Reason[] = [
  {
    why: "it is in debt after a charge",
    keep: (limiter) => {
      limiter.charge(25);
    },
    release: (_, clock) => clock.advance(25_000),
  },
  {
    why: "a pause holds it, though its bucket is full",
    keep: (limiter) => {
      limiter.pause(5_000);
    },
    // After a pause a bucket holds one token, and has the rest to gain.
    release: (_, clock) => clock.advance(5_000 + 9_000),
  },
  {
    why: "a pause has just ended, for it has one token then",
    keep: (limiter) => {
      limiter.pause(5_000);
      limiter.resume();
    },
    release: (_, clock) => clock.advance(9_000),
  },
  {
    why: "somebody waits in a pause",
    keep: (limiter) => {
      limiter.pause(1_000);
      void limiter.acquire();
    },
    release: (_, clock) => clock.advance(1_000 + 10_000),
  },
  {
    why: "it has another rate with the same burst",
    keep: (limiter) => {
      limiter.setRate({ maxRowsPerSecond: 2, burstWindowSecs: 5 });
    },
    release: (limiter) => {
      limiter.setRate({ maxRowsPerSecond: 1, burstWindowSecs: 10 });
    },
  },
  {
    why: "it has another burst window",
    keep: (limiter) => {
      limiter.setRate({ burstWindowSecs: 5 });
    },
    release: async (limiter, clock) => {
      limiter.setRate({ burstWindowSecs: 10 });
      await clock.advance(5_000);
    },
  },
  {
    why: "it has another rate, and is full by a refund",
    keep: (limiter) => {
      limiter.setRate({ maxRowsPerSecond: 3 });
      limiter.refund(100);
    },
    release: (limiter) => {
      limiter.setRate({ maxRowsPerSecond: 1 });
    },
  },
  {
    why: "somebody waits for more than it holds",
    keep: (limiter) => {
      void limiter.acquire(15);
    },
    release: (_, clock) => clock.advance(15_000),
  },
];

describe("a key stays as long as", () => {
  test.each(REASONS)("$why", async ({ keep, release }) => {
    const { clock, keyed } = setUpKeyed(1, 10);
    const limiter = keyed.for("a");
    keep(limiter);
    expect(keyed.size).toBe(1);
    await clock.advance(10);
    expect(keyed.size).toBe(1);
    expect(keyed.for("a")).toBe(limiter);
    await release(limiter, clock);
    expect(keyed.size).toBe(0);
    expect(keyed.for("a")).not.toBe(limiter);
  });

  test("it was closed by hand: asked for again, it is closed still", async () => {
    const { clock, keyed } = setUpKeyed(1, 10);
    keyed.for("a").close("blocked");
    await clock.advance(3_600_000);
    expect(keyed.size).toBe(1);
    await expect(keyed.acquire("a")).rejects.toMatchObject({ code: "LIMITER_CLOSED", cause: "blocked" });
    expect(keyed.tryAcquire("b")).toBe(true);
  });

  test("somebody waits whose timer is late, though the bucket is full by now", async () => {
    const clock = new SkewedClock(50);
    const keyed = new KeyedRateLimiter<string>({ maxRowsPerSecond: 1, clock });
    const trace = new Trace(clock);
    trace.follow("first", keyed.acquire("a"));
    trace.follow("second", keyed.acquire("a"));
    await clock.advance(1_020);
    expect(keyed.size).toBe(1);
    trace.follow("third", keyed.acquire("a"));
    await clock.advance(2_000);
    // On two budgets the third would be granted at t1020. On one, 45 of the 50 ms are lost to a timer that late.
    expect(trace.events).toEqual(["first t0", "second t1050", "third t2095"]);
    await clock.advance(1_000);
    expect(keyed.size).toBe(0);
  });
});

test("keys that nobody waits for need no timer, dropped or not", async () => {
  const { clock, keyed } = setUpKeyed<number>(1, 10);
  for (let key = 0; key < 100; key += 1) keyed.tryAcquire(key, 5);
  keyed.for(7).pause(100);
  expect(clock.pending).toBe(0);
  await clock.advance(60_000);
  expect(keyed.size).toBe(0);
  expect(clock.delays).toEqual([]);
});

test("those who wait have one timer for each key, and take it with them", async () => {
  const { clock, keyed } = setUpKeyed(1, 1);
  for (const key of ["a", "a", "a", "b", "b", "c"]) void keyed.acquire(key);
  expect(clock.pending).toBe(2);
  await clock.advance(2_000);
  expect(clock.pending).toBe(0);
});
