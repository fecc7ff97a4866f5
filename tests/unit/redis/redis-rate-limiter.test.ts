import { beforeEach, describe, expect, test } from "@jest/globals";
import { RateLimiter } from "../../../src/rate-limit/index.js";
import {
  RedisRateLimiter,
  type RedisRateLimiterOptions,
  StoreUnavailableError,
} from "../../../src/redis/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { FakeRedis } from "../../support/redis-fake-store.js";

let clock: ManualClock;
let redis: FakeRedis;
/** What has ended, with the time. */
let ended: [string, number][];

beforeEach(async () => {
  clock = new ManualClock();
  await clock.advance(1000);
  redis = new FakeRedis(clock);
  ended = [];
});

/** 10 a second, strictly spaced. */
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

/** Notes when a call ends, and how. The time counts from where the test begins. */
function note(name: string, call: Promise<unknown>): void {
  const at = (end: string): void => {
    ended.push([end, Math.round((clock.now() - 1000) * 1e6) / 1e6]);
  };
  call.then(
    () => {
      at(name);
    },
    (error: unknown) => {
      at(`${name}: ${error instanceof Error && "code" in error ? String(error.code) : String(error)}`);
    },
  );
}

const commands = (): (string | undefined)[] => redis.done.map(([command]) => command);

describe("what is asked of the store", () => {
  test("calls of one turn go in one request, and each is granted when it is due, counted from the answer", async () => {
    redis.fates = [[10, 30]];
    const limiter = limiterOf({ maxRowsPerSecond: 100 });
    for (const name of ["a", "b", "c"]) note(name, limiter.acquire());
    await clock.advance(500);
    expect(ended).toEqual([
      ["a", 40],
      ["b", 50],
      ["c", 60],
    ]);
    expect(redis.done).toEqual([["reserve", "3"]]);
  });

  test("no more than 50 ms of the rate behind the head; the next request is early enough to lose nothing", async () => {
    redis.fates = [[15, 15]];
    const limiter = limiterOf({ maxRowsPerSecond: 100 });
    for (let index = 0; index < 12; index += 1) note(String(index), limiter.acquire());
    await clock.advance(20);
    expect(redis.done).toEqual([["reserve", "6"]]);
    await clock.advance(500);
    expect(ended.map(([, at]) => at)).toEqual([30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140]);
    expect(commands()).toEqual(["reserve", "reserve"]);
    expect(redis.mostUnanswered).toBe(1);
  });

  test("what late answers have put off is not asked for on top: little is set aside at any time", async () => {
    redis.fates = Array.from({ length: 200 }, (_, index) => [0, index % 2 === 0 ? 0 : 45] as const);
    const limiter = limiterOf({ maxRowsPerSecond: 100 });
    for (let index = 0; index < 400; index += 1) void limiter.acquire();
    let most = 0;
    for (let ms = 0; ms < 3000; ms += 5) {
      await clock.advance(5);
      const asked = redis.done.reduce((sum, [, tokens]) => sum + Number(tokens), 0);
      most = Math.max(most, asked - limiter.limiterReport().granted);
    }
    expect(most).toBeLessThanOrEqual(15);
  });

  test("one call at a time is one request for each, and nothing goes back", async () => {
    const limiter = limiterOf({ burstWindowSecs: 1 });
    await limiter.acquire();
    await limiter.acquire(3);
    expect(commands()).toEqual(["reserve", "reserve"]);
    expect(redis.level()).toBe(6);
  });

  test("a call for more than the bucket waits for what is missing", async () => {
    const limiter = limiterOf();
    note("large", limiter.acquire(5));
    note("small", limiter.acquire());
    await clock.advance(1000);
    expect(ended).toEqual([
      ["large", 400],
      ["small", 500],
    ]);
  });

  test("the store is asked again each second for a head that is due later, and a new rate moves it", async () => {
    const limiter = limiterOf();
    note("large", limiter.acquire(101));
    await clock.advance(2500);
    expect(commands()).toEqual(["reserve", "look", "look"]);
    await limiterOf().setRate({ maxRowsPerSecond: 100 });
    await clock.advance(2000);
    // Heard of after 3 s: 31 tokens are there, and 70 are missing.
    expect(ended).toEqual([["large", 3700]]);
  });

  test("a lower rate does not bring forward what was set aside", async () => {
    const rate = { maxRowsPerSecond: 100, burstWindowSecs: 1 };
    const limiter = limiterOf(rate);
    await limiterOf(rate).tryAcquire(100);
    for (const name of ["a", "b", "c"]) note(name, limiter.acquire());
    await clock.advance(5);
    await limiter.setRate({ maxRowsPerSecond: 1, burstWindowSecs: 100 });
    await clock.advance(100);
    expect(ended).toEqual([
      ["a", 10],
      ["b", 20],
      ["c", 30],
    ]);
  });

  test("a head that is due within a second is not asked for again", async () => {
    const limiter = limiterOf();
    note("large", limiter.acquire(10));
    await clock.advance(1000);
    expect(ended).toEqual([["large", 900]]);
    expect(commands()).toEqual(["reserve"]);
  });

  test("0 tokens are granted without asking", async () => {
    await limiterOf().acquire(0);
    expect(await limiterOf().tryAcquire(0)).toBe(true);
    expect(redis.sent).toEqual([]);
  });

  test("close to a burst, but late: what is there at once is what a bucket holds, and 5 ms", async () => {
    let skip = false;
    const late = {
      now: () => clock.now(),
      // A timer that is a second late, once.
      schedule: (delayMs: number, callback: () => void) =>
        clock.schedule(delayMs + (skip ? 1000 : 0), callback),
    };
    const limiter = limiterOf({ maxRowsPerSecond: 100, clock: late });
    for (let index = 0; index < 6; index += 1) note(String(index), limiter.acquire());
    await clock.advance(5);
    skip = true;
    await clock.advance(10);
    skip = false;
    await clock.advance(2000);
    const times = ended.map(([, at]) => at);
    expect(times).toHaveLength(6);
    for (const [index, at] of times.slice(2).entries())
      expect(at - (times[index + 1] ?? NaN)).toBeGreaterThan(4.9);
    expect((times[5] ?? NaN) - (times[2] ?? NaN)).toBeGreaterThan(24.9);
  });
});

test("tryAcquire passes nobody who waits here, and counts for this process", async () => {
  const limiter = limiterOf({ burstWindowSecs: 1 });
  expect(await limiter.tryAcquire(10)).toBe(true);
  expect(await limiter.tryAcquire()).toBe(false);
  redis.flush();
  note("a", limiter.acquire());
  await clock.advance(50);
  redis.flush();
  expect(await limiter.tryAcquire()).toBe(false);
  expect(redis.sent.filter((command) => command === "take")).toHaveLength(2);
  await clock.advance(1000);
  expect(ended).toEqual([["a", 100]]);
  expect(await limiter.stats()).toMatchObject({ granted: 2, grantedTokens: 11 });
});

test("what is refunded can be taken at once", async () => {
  const limiter = limiterOf({ burstWindowSecs: 1 });
  await limiter.acquire(10);
  await limiter.refund(10);
  note("a", limiter.acquire(10));
  await clock.advance(0);
  expect(ended).toEqual([["a", 0]]);
});

describe("leaving", () => {
  test("what was set aside is for the next one here, without another request", async () => {
    const limiter = limiterOf();
    const leaver = new AbortController();
    note("leaver", limiter.acquire(5, { signal: leaver.signal }));
    note("next", limiter.acquire(2));
    await clock.advance(10);
    leaver.abort("gone");
    await clock.advance(1000);
    expect(ended).toEqual([
      ["leaver: gone", 10],
      ["next", 100],
    ]);
    expect(commands()).toEqual(["reserve", "give"]);
    expect(redis.done[1]).toEqual(["give", expect.any(String), "1", "3"]);
  });

  test("with nobody there it goes back, also when the answer comes only then", async () => {
    redis.fates = [[10, 10]];
    const limiter = limiterOf();
    for (const afterMs of [50, 5]) {
      const leaver = new AbortController();
      note("leaver", limiter.acquire(20, { signal: leaver.signal }));
      await clock.advance(afterMs);
      leaver.abort("gone");
      await clock.advance(100);
      expect(ended.pop()?.[0]).toBe("leaver: gone");
      expect([redis.level(), redis.reserved()]).toEqual([1, 0]);
    }
  });

  test("when somebody has reserved behind it, it goes back, and later ones are not told", async () => {
    const limiter = limiterOf();
    const leaver = new AbortController();
    note("leaver", limiter.acquire(5, { signal: leaver.signal }));
    await clock.advance(10);
    note("other", limiterOf().acquire());
    await clock.advance(40);
    leaver.abort("gone");
    await clock.advance(700);
    expect(ended).toEqual([
      ["leaver: gone", 50],
      ["other", 500],
    ]);
    expect([redis.level(), redis.reserved(), commands()]).toEqual([0, 1, ["reserve", "reserve", "give"]]);
  });

  test("a large head that leaves does not leave a burst", async () => {
    const limiter = limiterOf();
    const leaver = new AbortController();
    note("leaver", limiter.acquire(21, { signal: leaver.signal }));
    for (const name of ["a", "b", "c"]) note(name, limiter.acquire());
    await clock.advance(950);
    leaver.abort("gone");
    await clock.advance(1000);
    const [, first = NaN, second = NaN, third = NaN] = ended.map(([, at]) => at);
    expect(first).toBe(950);
    expect([second - first, third - second]).toEqual([100, 100]);
  });

  test("a wait that is known not to fit fails at once", async () => {
    const limiter = limiterOf();
    await limiterOf().charge(51);
    note("head", limiter.acquire());
    await clock.advance(1);
    note("late", limiter.acquire(1, { maxWaitMs: 4000 }));
    await clock.advance(0);
    expect(ended).toEqual([["late: WAIT_TOO_LONG", 1]]);
  });

  test("close rejects whoever waits and gives back", async () => {
    const limiter = limiterOf();
    note("head", limiter.acquire(20));
    await clock.advance(1);
    limiter.close("night");
    await clock.advance(0);
    note("after", limiter.acquire());
    note("try", limiter.tryAcquire());
    note("pause", limiter.pause(1));
    await clock.advance(0);
    expect(ended.map(([end]) => end)).toEqual(
      ["head", "after", "pause", "try"].map((name) => `${name}: LIMITER_CLOSED`),
    );
    expect(redis.reserved()).toBe(0);
    expect(clock.pending).toBe(0);
    expect(await limiter.stats()).toMatchObject({ aborted: 1, queued: 0 });
  });
});

test("all processes together stay under the bound, whatever answers do, and waste nothing when they are prompt", async () => {
  for (const slowestMs of [0, 40]) {
    redis = new FakeRedis(clock);
    redis.fates = Array.from({ length: 400 }, (_, index) => [(index * 7) % (slowestMs + 1), 0] as const);
    redis.fates.push([0, 0]);
    const times: number[] = [];
    const limiters = [1, 2, 3].map(() => limiterOf({ maxRowsPerSecond: 200, burstWindowSecs: 0.05 }));
    for (const limiter of limiters) {
      for (let index = 0; index < 150; index += 1) void limiter.acquire().then(() => times.push(clock.now()));
    }
    await clock.advance(1000);
    expect(times.length).toBeGreaterThanOrEqual(slowestMs === 0 ? 209 : 190);
    await clock.advance(2000);
    expect(times).toHaveLength(450);
    let most = 0;
    for (const [from, start] of times.entries())
      for (const [to, end] of times.entries())
        most = Math.max(most, to - from + 1 - ((end - start) * 200) / 1000);
    expect(most).toBeLessThanOrEqual(10 + 1 + (slowestMs * 200) / 1000 + 1e-6);
  }
});

describe("pauses", () => {
  test("nobody is granted until the end, and then at the rate; what was set aside goes back", async () => {
    const limiter = limiterOf({ maxRowsPerSecond: 100, burstWindowSecs: 1 });
    await limiter.charge(100);
    for (const name of ["a", "b", "c"]) note(name, limiter.acquire());
    await clock.advance(5);
    await limiterOf().resume();
    await limiter.pause(500);
    await clock.advance(1000);
    expect(ended).toEqual([
      ["a", 505],
      ["b", 515],
      ["c", 525],
    ]);
    expect(commands()).toEqual(["charge", "reserve", "resume", "pause", "give", "reserve"]);
  });

  test("a resume by somebody else reaches those who wait within a second", async () => {
    const limiter = limiterOf();
    await limiter.pause(60_000);
    note("a", limiter.acquire());
    await clock.advance(300);
    await limiterOf().resume();
    await clock.advance(1000);
    expect(ended).toEqual([["a", 1000]]);
  });
});

describe("when the store fails", () => {
  test("waiting: asked again after 50 ms, then twice as long, a second at most; those who left are not asked for", async () => {
    redis.fates = ["refused"];
    const limiter = limiterOf();
    const leaver = new AbortController();
    note("leaver", limiter.acquire(7, { signal: leaver.signal }));
    note("a", limiter.acquire());
    await clock.advance(49);
    expect(redis.sent).toHaveLength(1);
    leaver.abort("gone");
    await clock.advance(1);
    expect(redis.sent).toHaveLength(2);
    await clock.advance(100);
    expect(redis.sent).toHaveLength(3);
    await clock.advance(10_000);
    expect(redis.sent.length).toBeGreaterThan(12);
    expect(redis.sent.length).toBeLessThan(18);
    redis.fates = [[0, 0]];
    await clock.advance(1000);
    expect(ended.map(([end]) => end)).toEqual(["leaver: gone", "a"]);
    expect(redis.done).toEqual([["reserve", "1"]]);
  });

  test("after an answer that never comes, one is asked for that spends nothing; that one is waited for, for ten deadlines", async () => {
    redis.fates = ["lost", "lost", [0, 0]];
    const limiter = limiterOf({ storeTimeoutMs: 100 });
    note("a", limiter.acquire());
    await clock.advance(1199);
    expect([redis.sent, ended]).toEqual([["reserve", "give"], []]);
    await clock.advance(1);
    expect(ended).toEqual([["a", 1200]]);
    expect(redis.sent).toEqual(["reserve", "give", "give", "reserve"]);
  });

  test("a call lost with its connection, which the client never settles, costs its deadline and no more", async () => {
    redis.fates = ["lost", [0, 0]];
    const limiter = limiterOf({ storeTimeoutMs: 100 });
    note("a", limiter.acquire());
    await clock.advance(200);
    expect(ended).toEqual([["a", 100]]);
  });

  test("an answer that comes too late is given back, and ends the wait for it", async () => {
    redis.fates = [
      [200, 50],
      [100, 100],
      [0, 0],
    ];
    const limiter = limiterOf({ storeTimeoutMs: 100 });
    note("a", limiter.acquire());
    await clock.advance(1000);
    expect(redis.done).toEqual([
      ["reserve", "1"],
      ["give", ""],
      ["give", expect.any(String), "1", "1"],
      ["give", ""],
      ["reserve", "1"],
    ]);
    expect(ended).toEqual([["a", 250]]);
  });

  test("throwing: all in line get the error, later ones at once, and one tries again now and then", async () => {
    redis.fates = ["refused"];
    const limiter = limiterOf({ onStoreError: "throw" });
    note("a", limiter.acquire());
    note("b", limiter.acquire());
    await clock.advance(0);
    note("c", limiter.acquire());
    note("zero", limiter.acquire(0));
    await clock.advance(0);
    expect(ended).toEqual([
      ["a: STORE_UNAVAILABLE", 0],
      ["b: STORE_UNAVAILABLE", 0],
      ["c: STORE_UNAVAILABLE", 0],
      ["zero", 0],
    ]);
    expect(redis.sent).toHaveLength(1);
    redis.fates = [[0, 0]];
    await clock.advance(50);
    await limiter.acquire();
    expect(redis.sent).toHaveLength(2);
  });

  test("a local limiter serves those in line, in their order and with what is left of their time", async () => {
    redis.fates = ["lost"];
    const local = new RateLimiter({ maxRowsPerSecond: 10, burstWindowSecs: 0, clock });
    const limiter = limiterOf({ onStoreError: local, storeTimeoutMs: 100 });
    note("a", limiter.acquire());
    note("b", limiter.acquire());
    note("c", limiter.acquire(1, { maxWaitMs: 250 }));
    await clock.advance(500);
    expect(ended).toEqual([
      ["a", 100],
      ["c: WAIT_TOO_LONG", 100],
      ["b", 200],
    ]);
    await limiter.acquire();
    expect(redis.sent).toEqual(["reserve", "give"]);
    redis.fates = [[0, 0]];
    await clock.advance(1200);
    await limiter.acquire(); // finds out
    await clock.advance(0);
    const { granted } = local.stats();
    await limiter.acquire();
    expect(local.stats().granted).toBe(granted);
    expect(redis.sent).toEqual(["reserve", "give", "give", "reserve"]);
  });

  test("what needs the store rejects, whatever the policy is, and is not sent again", async () => {
    redis.fates = ["refused"];
    const limiter = limiterOf();
    for (const call of [
      limiter.tryAcquire(),
      limiter.refund(1),
      limiter.charge(1),
      limiter.pause(1),
      limiter.resume(),
      limiter.setRate({ maxRowsPerSecond: 5 }),
      limiter.stats(),
    ]) {
      await expect(call).rejects.toBeInstanceOf(StoreUnavailableError);
    }
    expect(redis.sent).toHaveLength(7);
    redis.fates = ["lost"];
    note("try", limiter.tryAcquire());
    await clock.advance(1000);
    expect(ended).toEqual([["try: STORE_UNAVAILABLE", 1000]]);
  });

  test("tokens that were tried for and came too late go back", async () => {
    redis.fates = [
      [0, 1500],
      [0, 0],
    ];
    const limiter = limiterOf({ burstWindowSecs: 1 });
    note("try", limiter.tryAcquire(3));
    await clock.advance(2000);
    expect(redis.level()).toBe(10);
    expect(commands()).toEqual(["take", "give"]);
  });

  test("what was set aside in a bucket that is lost is dropped", async () => {
    const limiter = limiterOf();
    note("large", limiter.acquire(31));
    await clock.advance(500);
    redis.flush();
    await clock.advance(500);
    expect(commands()).toEqual(["reserve", "look", "reserve"]);
    await clock.advance(2999);
    expect(ended).toEqual([]);
    await clock.advance(1);
    expect(ended).toEqual([["large", 4000]]);
  });

  test("only an unknown script is sent in full", async () => {
    const seen: string[] = [];
    const client = (args: string[]): Promise<unknown> => {
      seen.push(args[0] ?? "");
      // Of a client of another realm, whose errors are no Error here.
      if (seen.length === 1) return Promise.reject({ message: "NOSCRIPT No matching script." });
      return seen.length === 2 ? redis.send(args) : Promise.reject(new Error("LOADING"));
    };
    const limiter = limiterOf({ client, onStoreError: "throw" });
    await limiter.acquire();
    await expect(limiter.acquire()).rejects.toMatchObject({
      isUnanswered: false,
      cause: new Error("LOADING"),
    });
    expect(seen).toEqual(["EVALSHA", "EVAL", "EVALSHA"]);
  });
});
