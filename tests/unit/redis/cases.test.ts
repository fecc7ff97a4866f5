import { beforeEach, describe, expect, test } from "@jest/globals";
import { RedisRateLimiter, type RedisRateLimiterOptions } from "../../../src/redis/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { FakeRedis } from "../../support/redis-fake-store.js";

// Faults that users of other libraries reported, by their number, where the time has to stand still.

let clock: ManualClock;
let redis: FakeRedis;

beforeEach(() => {
  clock = new ManualClock();
  redis = new FakeRedis(clock);
});

function limiterOf(options: Partial<RedisRateLimiterOptions> = {}): RedisRateLimiter {
  const rates = { maxRowsPerSecond: 10, burstWindowSecs: 1 };
  return new RedisRateLimiter({ client: redis.send, name: "cases", clock, ...rates, ...options });
}

/** Notes how a call ends, and when. */
function noteIn(ends: [how: string, at: number][], call: Promise<unknown>): void {
  call.then(
    () => ends.push(["granted", clock.now()]),
    (error: unknown) => ends.push([(error as { code: string }).code, clock.now()]),
  );
}

test.each([
  ["throw", "STORE_UNAVAILABLE", ["reserve"]],
  ["wait", "WAIT_TOO_LONG", ["reserve", "give"]], // what asks whether the store is back, and spends nothing
] as const)(
  "F52: a client that never answers costs a call its own limit or that of the store, and grants nothing: %s",
  async (onStoreError, code, sent) => {
    redis.fates = ["lost"];
    const limiter = limiterOf({ onStoreError, storeTimeoutMs: 300, maxRowsPerSecond: 1000 });
    const ends: [string, number][] = [];
    noteIn(ends, limiter.acquire(1, { maxWaitMs: 200 }));
    const maxWaitMs = onStoreError === "wait" ? 300 : Infinity;
    for (let count = 0; count < 50; count += 1) noteIn(ends, limiter.acquire(1, { maxWaitMs }));
    await clock.advance(60_000);
    expect(ends).toEqual([["WAIT_TOO_LONG", 200], ...Array.from({ length: 50 }, () => [code, 300])]);
    expect(redis.sent).toEqual(sent);
    expect(limiter.limiterReport()).toMatchObject({ granted: 0, aborted: 51, queued: 0 });
  },
);

describe("F53: an outage of 30 s under 100 calls a second that wait 1 s each", () => {
  /** When one is served that calls 100 ms after the outage, in milliseconds from its call. All others have left by then. */
  async function goThrough(limiter: RedisRateLimiter, restore: () => void): Promise<number> {
    const ends: [string, number][] = [];
    let mostQueued = 0;
    let mostTimers = 0;
    for (let call = 0; call < 2900; call += 1) {
      noteIn(ends, limiter.acquire(1, { maxWaitMs: 1000 }));
      await clock.advance(10);
      mostQueued = Math.max(mostQueued, limiter.limiterReport().queued);
      mostTimers = Math.max(mostTimers, clock.pending);
    }
    await clock.advance(1000);
    expect(ends.filter(([how]) => how === "WAIT_TOO_LONG")).toHaveLength(2900);
    expect([mostQueued <= 100, mostTimers <= 2]).toEqual([true, true]);
    restore();
    await clock.advance(100);
    expect(clock.pending).toBe(0);
    const served: [string, number][] = [];
    noteIn(served, limiter.acquire());
    await clock.advance(1000);
    const [[how, at] = ["", NaN]] = served;
    expect(how).toBe("granted");
    return at - 30_100;
  }

  test("a client that refuses: no script is run for those who have left", async () => {
    redis.fates = ["refused"];
    const restore = (): void => {
      redis.fates = [[0, 0]];
    };
    expect(await goThrough(limiterOf(), restore)).toBe(0);
    expect([redis.done, redis.level()]).toEqual([[["reserve", "1"]], 9]);
    expect(redis.sent.length).toBeLessThan(40); // a second apart
  });

  test("a client that keeps what it cannot send: it has one call for 2,900, which is given back, and three that spend nothing", async () => {
    const kept: (() => void)[] = [];
    let isDown = true;
    const client = (args: string[]): Promise<unknown> =>
      isDown
        ? new Promise((resolve) => kept.push(() => void redis.send(args).then(resolve)))
        : redis.send(args);
    const restore = (): void => {
      isDown = false;
      for (const send of kept) send();
    };
    expect(await goThrough(limiterOf({ client }), restore)).toBe(0);
    expect([kept.length, redis.level()]).toEqual([4, 9]);
    expect(redis.done).toEqual([
      ["reserve", "1"],
      ["give", ""],
      ["give", ""],
      ["give", ""],
      ["give", expect.any(String), "1", "1"],
      ["give", ""], // for the one who calls after it
      ["reserve", "1"],
    ]);
  });
});

test("F57: time is kept finer than a second: a bucket of one token at 10/s gives one every 100 ms", async () => {
  const limiter = limiterOf({ burstWindowSecs: 0.1 });
  let successes = 0;
  for (let count = 0; count < 100; count += 1) {
    if (await limiter.tryAcquire()) successes += 1;
    expect(await limiter.tryAcquire()).toBe(false);
    await clock.advance(100);
  }
  expect(successes).toBe(100);
});
