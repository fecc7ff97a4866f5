import { beforeEach, describe, expect, test } from "@jest/globals";
import { RateLimiter } from "../../../src/rate-limit/index.js";
import {
  RedisRateBudget,
  RedisRateLimiter,
  type RedisRateLimiterOptions,
  StoreUnavailableError,
} from "../../../src/redis/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { FakeRedis } from "../../support/redis-fake-store.js";

let clock: ManualClock;
let redis: FakeRedis;
/** When calls were granted, counted from where the test begins. */
let grants: number[];

beforeEach(async () => {
  clock = new ManualClock();
  await clock.advance(1000);
  redis = new FakeRedis(clock);
  grants = [];
});

/** 100 a second, strictly spaced. */
function limiterOf(options: Partial<RedisRateLimiterOptions> = {}): RedisRateLimiter {
  return new RedisRateLimiter({
    client: redis.send,
    name: "search",
    maxRowsPerSecond: 100,
    burstWindowSecs: 0,
    clock,
    ...options,
  });
}

function note(call: Promise<unknown>): void {
  call.then(
    () => grants.push(Math.round((clock.now() - 1000) * 1000) / 1000),
    () => undefined,
  );
}

function noteMany(limiter: RedisRateLimiter, count: number): void {
  for (let index = 0; index < count; index += 1) note(limiter.acquire());
}

describe("when the next request goes out", () => {
  test("so early that one of usual length comes in time", async () => {
    redis.fates = [[60, 0]];
    noteMany(limiterOf(), 60);
    await clock.advance(2000);
    expect(grants.at(-1)).toBe(60 + 59 * 10);
  });

  test("and 25 ms earlier, for one that takes longer than the one before", async () => {
    redis.fates = [
      [0, 0],
      [24, 0],
      [0, 0],
      [24, 0],
      [0, 0],
    ];
    noteMany(limiterOf(), 20);
    await clock.advance(2000);
    expect(grants.at(-1)).toBe(19 * 10);
  });

  test("not for those who have left in the turn in which they came", async () => {
    const limiter = limiterOf();
    const leaver = new AbortController();
    note(limiter.acquire(1, { signal: leaver.signal }));
    leaver.abort();
    await clock.advance(10);
    expect(redis.sent).toEqual([]);
    note(limiter.acquire());
    await clock.advance(10);
    expect(grants).toEqual([10]);
  });

  test("with those behind the first that ask nothing of a dimension of which much is asked already", async () => {
    const budget = new RedisRateBudget(
      { requests: { maxRowsPerSecond: 100 }, tokens: { maxRowsPerSecond: 100 } },
      { client: redis.send, name: "model", clock },
    );
    note(budget.acquire({ tokens: 300 }));
    note(budget.acquire({ requests: 1 }));
    note(budget.acquire({ tokens: 1 }));
    await clock.advance(100);
    expect(redis.done).toEqual([["reserve", "1", "300"]]);
  });
});

describe("when one leaves", () => {
  test("of those behind the head: its tokens go back at once, and those behind it move up", async () => {
    const limiter = limiterOf();
    const leaver = new AbortController();
    await limiter.charge(1);
    note(limiter.acquire());
    note(limiter.acquire(1, { signal: leaver.signal }));
    noteMany(limiter, 2);
    await clock.advance(5);
    leaver.abort();
    await clock.advance(1);
    // All that is kept is more than a bucket holds, but none of it is there yet.
    expect(redis.done.at(-1)).toEqual(["give", expect.any(String), "2", "1"]);
    await clock.advance(100);
    expect(grants).toEqual([10, 20, 30]);
  });

  test("what has come together for it is no burst beside what another process gets", async () => {
    const leaver = new AbortController();
    const [one, other] = [limiterOf(), limiterOf()];
    note(one.acquire(50, { signal: leaver.signal }));
    noteMany(one, 40);
    await clock.advance(1);
    noteMany(other, 40);
    await clock.advance(450);
    leaver.abort();
    await clock.advance(2000);
    expect(grants).toHaveLength(80);
    const [first = NaN] = grants;
    for (const [index, at] of grants.entries())
      expect(index + 1).toBeLessThanOrEqual(1.001 + (at - first) / 10);
  });

  test("what has come together is kept for one behind it that needs it", async () => {
    const limiter = limiterOf();
    const leaver = new AbortController();
    note(limiter.acquire(6, { signal: leaver.signal }));
    note(limiter.acquire(5));
    await clock.advance(45);
    leaver.abort();
    await clock.advance(200);
    expect(grants).toEqual([45]);
  });
});

describe("what is heard", () => {
  test("counts on at the rate, up to the capacity", async () => {
    const limiter = limiterOf({ burstWindowSecs: 1 });
    await limiter.acquire(80);
    const available = (): unknown => limiter.limiterReport().dimensions[0]?.available;
    expect(available()).toBe(20);
    await clock.advance(500);
    expect(available()).toBe(70);
    await clock.advance(5000);
    expect(available()).toBe(100);
  });

  test("of a resume, at once by those who wait here", async () => {
    const limiter = limiterOf();
    await limiter.pause(60_000);
    note(limiter.acquire());
    await clock.advance(100);
    await limiter.resume();
    await clock.advance(20);
    expect(grants).toEqual([100]);
  });
});

describe("failures", () => {
  test("when it is not known what a look has put forward, what is held is dropped, and asked for anew", async () => {
    redis.fates = [
      [0, 0],
      [0, 1e6],
      [0, 0],
    ];
    const limiter = limiterOf({ storeTimeoutMs: 100 });
    note(limiter.acquire(301));
    await clock.advance(2500);
    expect(redis.done.map(([command]) => command)).toEqual(["reserve", "look", "give", "reserve", "look"]);
  });

  test("a call that fails after it was given up ends the wait for it", async () => {
    const sentAt: number[] = [];
    const client = (): Promise<unknown> => {
      sentAt.push(clock.now() - 1000);
      return new Promise((_, reject) =>
        clock.schedule(200, () => {
          reject(new Error("closed"));
        }),
      );
    };
    const limiter = limiterOf({ client, storeTimeoutMs: 100 });
    note(limiter.acquire());
    await clock.advance(350);
    // 100 is a probe. What it waits for is over at 300, when the second one fails.
    expect(sentAt).toEqual([0, 100, 300]);
  });

  test("an answer that is too short is one", async () => {
    const limiter = limiterOf({ client: () => Promise.resolve(["1", "0"]), onStoreError: "throw" });
    await expect(limiter.acquire()).rejects.toBeInstanceOf(StoreUnavailableError);
  });

  test("what stands in does so for failures of the store alone, and not for a limiter that is closed", async () => {
    redis.fates = ["lost"];
    const local = new RateLimiter({ maxRowsPerSecond: 10, clock });
    const limiter = limiterOf({ onStoreError: local, storeTimeoutMs: 100 });
    const call = limiter.acquire(1, { signal: AbortSignal.abort("gone") });
    await expect(call).rejects.toBe("gone");
    const leaver = new AbortController();
    const waiting = limiter.acquire(1, { signal: leaver.signal });
    await clock.advance(50);
    leaver.abort("gone");
    await expect(waiting).rejects.toBe("gone");
    note(limiter.acquire());
    await clock.advance(100);
    expect(grants).toHaveLength(1);
    limiter.close();
    await expect(limiter.acquire()).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
    expect(local.stats().granted).toBe(1);
  });

  test("nobody has to wait for what stands in: its rejections do not end the process", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", note);
    redis.fates = ["refused"];
    const local = new RateLimiter({ maxRowsPerSecond: 10, clock });
    local.close();
    void limiterOf({ onStoreError: local }).acquire();
    await clock.advance(10);
    await new Promise(setImmediate);
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });
});
