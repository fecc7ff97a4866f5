import { setTimeout as pass } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { systemClock } from "../../../src/clock.js";
import { RedisRateLimiter, type RedisRateLimiterOptions } from "../../../src/redis/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { FakeRedis } from "../../support/redis-fake-store.js";

let clock: ManualClock;
let redis: FakeRedis;

beforeEach(() => {
  clock = new ManualClock();
  redis = new FakeRedis(clock);
});

function limiterOf(options: Partial<RedisRateLimiterOptions> = {}): RedisRateLimiter {
  return new RedisRateLimiter({
    client: redis.send,
    name: "search",
    maxRowsPerSecond: 10,
    burstWindowSecs: 0,
    clock,
    ...options,
  });
}

/** Answers a few milliseconds late, in real time. */
async function late(args: string[]): Promise<unknown> {
  await pass(5);
  return redis.send(args);
}

/** How a call ends in `ms`: the code of its error, "granted", or "waits". */
async function endOf(call: Promise<unknown>, ms: number): Promise<string> {
  let end = "waits";
  call.then(
    () => {
      end = "granted";
    },
    (error: unknown) => {
      end = String((error as { readonly code?: unknown }).code);
    },
  );
  await clock.advance(ms);
  return end;
}

describe("an answer that is not that of the script", () => {
  test.each([
    ["nothing", undefined],
    ["a word", "OK"],
    ["too short", ["e", "0"]],
    ["a pause that is no number", ["e", "x", "", "", "1"]],
    ["a level that is no number", ["e", "0", "", "", "nan", "1", "0", "0"]],
    ["a rate that is no number", ["e", "0", "q", "1", "1", "1", "0", "0"]],
    ["a due time that is no number", ["e", "0", "", "", "1", "1", "0", "zz"]],
    ["no reservation, and no pause", ["e", "0", "", "", "1"]],
    ["a due time that is not there", ["e", "0", "", "", "1", "1", "0"]],
  ])("%s: the call fails, and nobody waits without an end", async (_, reply) => {
    const limiter = limiterOf({ client: () => Promise.resolve(reply), onStoreError: "throw" });
    expect(await endOf(Promise.all([limiter.acquire(), limiter.acquire()]), 1)).toBe("STORE_UNAVAILABLE");
    expect(clock.pending).toBe(0);
  });
});

describe("numbers at the end of their range", () => {
  test("the longest pause holds, and can be ended", async () => {
    const limiter = limiterOf();
    expect(await endOf(limiter.pause(Number.MAX_VALUE), 1)).toBe("granted");
    const call = limiter.acquire();
    expect(await endOf(call, 2000)).toBe("waits");
    await limiter.resume();
    expect(await endOf(call, 100)).toBe("granted");
  });

  test("the longest deadline is none that a timer cannot keep", async () => {
    const limiter = limiterOf({ clock: systemClock, client: late, storeTimeoutMs: Number.MAX_VALUE });
    await expect(limiter.tryAcquire()).resolves.toBe(true);
  });

  test.each([Number.MIN_VALUE, 1e-300])("at %p a second the first goes, the next waits", async (rate) => {
    const limiter = limiterOf({ maxRowsPerSecond: rate, onStoreError: "throw" });
    expect(await endOf(limiter.acquire(), 1)).toBe("granted");
    const call = limiter.acquire();
    expect(await endOf(call, 5000)).toBe("waits");
    limiter.close();
    expect(await endOf(limiterOf({ maxRowsPerSecond: 1 }).acquire(), 2000)).toBe("granted");
  });

  test.each([1e300, Number.MAX_VALUE])("at %p a second nobody waits", async (rate) => {
    const limiter = limiterOf({ maxRowsPerSecond: rate, burstWindowSecs: 1, onStoreError: "throw" });
    for (let count = 0; count < 3; count += 1)
      expect(await endOf(limiter.acquire(Number.MAX_SAFE_INTEGER), 1)).toBe("granted");
    expect((await limiter.stats()).grantedTokens).toBe(3 * Number.MAX_SAFE_INTEGER);
  });
});
