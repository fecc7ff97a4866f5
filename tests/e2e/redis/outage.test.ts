import { setTimeout as pass } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { RateLimiter } from "tidegate";
import { RedisRateLimiter, type RedisRateLimiterOptions, StoreUnavailableError } from "tidegate/redis";
import { describeWithRedis, RedisServer } from "../../support/redis-server.js";

const LIMIT_MS = 60_000;

describeWithRedis("a server that fails", () => {
  let server: RedisServer;
  let client: Redis;

  const limiterOf = (options: Partial<RedisRateLimiterOptions> = {}): RedisRateLimiter =>
    new RedisRateLimiter({ client, name: "outage", maxRowsPerSecond: 50, burstWindowSecs: 0, ...options });

  beforeAll(async () => {
    server = await RedisServer.start();
  }, LIMIT_MS);

  afterAll(async () => {
    await server.stop();
  });

  beforeEach(() => {
    client = new Redis(server.port, "127.0.0.1", {
      autoResendUnfulfilledCommands: false,
      retryStrategy: () => 50,
    });
    client.on("error", () => undefined);
  });

  afterEach(() => {
    client.disconnect();
  });

  test(
    "killed and started again under those who wait: all are served, in order, at the rate",
    async () => {
      const limiter = limiterOf();
      const order: number[] = [];
      const times: number[] = [];
      const calls = Array.from({ length: 40 }, (_, index) =>
        limiter.acquire().then(() => {
          order.push(index);
          times.push(performance.now());
        }),
      );
      await pass(150);
      await server.stop();
      const served = order.length;
      expect(served).toBeLessThan(40);
      await pass(300);
      const leaver = new AbortController();
      const left = limiter.acquire(1, { signal: leaver.signal });
      leaver.abort("gone");
      await expect(left).rejects.toBe("gone");
      await server.start();
      await Promise.all(calls);
      expect(order).toEqual(Array.from({ length: 40 }, (_, index) => index));
      // 20 ms each, and what was outage; a server that was killed begins with a full bucket, of one token here.
      const last = times.at(-1) ?? NaN;
      const [back = NaN] = times.slice(-20);
      expect(last - back).toBeGreaterThan(19 * 20 - 100);
    },
    LIMIT_MS,
  );

  test(
    "F52, F53: one that does not answer costs each call its deadline at most, and what piled up is not spent",
    async () => {
      const limiter = limiterOf({ onStoreError: "throw", storeTimeoutMs: 200 });
      await limiter.acquire();
      server.signal("SIGSTOP");
      const startedAt = performance.now();
      const errors: unknown[] = [];
      while (performance.now() - startedAt < 2000) {
        await limiter.acquire().catch((error: unknown) => errors.push(error));
        await pass(5);
      }
      expect(errors.length).toBeGreaterThan(10);
      for (const error of errors) expect(error).toBeInstanceOf(StoreUnavailableError);
      server.signal("SIGCONT");
      await pass(100);
      await limiter.acquire();
      expect((await limiter.stats()).available).toBeGreaterThan(-2);
    },
    LIMIT_MS,
  );

  test(
    "waiting through a server that stands still for 2 s: nobody is lost, nothing is granted twice as fast",
    async () => {
      const limiter = limiterOf({ storeTimeoutMs: 300 });
      await limiter.acquire();
      server.signal("SIGSTOP");
      const times: number[] = [];
      const calls = Array.from({ length: 10 }, () =>
        limiter.acquire().then(() => times.push(performance.now())),
      );
      await expect(limiter.acquire(1, { maxWaitMs: 100 })).rejects.toMatchObject({ code: "WAIT_TOO_LONG" });
      await pass(1900);
      expect(times).toEqual([]);
      server.signal("SIGCONT");
      await Promise.all(calls);
      expect((times.at(-1) ?? NaN) - (times[0] ?? NaN)).toBeGreaterThan(9 * 20 - 60);
    },
    LIMIT_MS,
  );

  test(
    "a local limiter takes over, and gives back by itself",
    async () => {
      const local = new RateLimiter({ maxRowsPerSecond: 1000 });
      const limiter = limiterOf({ onStoreError: local, storeTimeoutMs: 200 });
      await limiter.acquire();
      await server.stop();
      for (let count = 0; count < 5; count += 1) await limiter.acquire();
      expect(local.stats().granted).toBe(5);
      await server.start();
      const before = (): number => limiter.limiterReport().granted;
      const granted = before();
      for (let tries = 0; tries < 300 && before() === granted; tries += 1) {
        await limiter.acquire();
        await pass(10);
      }
      expect(before()).toBeGreaterThan(granted);
      const { granted: borrowed } = local.stats();
      await limiter.acquire();
      expect(local.stats().granted).toBe(borrowed);
    },
    LIMIT_MS,
  );
});
