import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { RedisRateLimiter, type RedisRateLimiterOptions } from "tidegate/redis";
import { describeWithRedis, RedisServer } from "../../support/redis-server.js";

/** On a busy machine; none of these tests measures time by it. */
const LIMIT_MS = 60_000;

/** How far apart answers may come, in milliseconds, on a busy machine: what tokens are granted late by. */
const JITTER_MS = 150;

describeWithRedis("a budget that processes share", () => {
  let server: RedisServer;
  const clients: Redis[] = [];

  const connect = (): Redis => {
    const client = new Redis(server.port, "127.0.0.1", { autoResendUnfulfilledCommands: false });
    client.on("error", () => undefined);
    clients.push(client);
    return client;
  };
  const limiterOf = (options: Partial<RedisRateLimiterOptions> = {}): RedisRateLimiter =>
    new RedisRateLimiter({ client: connect(), name: "shared", maxRowsPerSecond: 100, ...options });

  beforeAll(async () => {
    server = await RedisServer.start();
  }, LIMIT_MS);

  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await server.stop();
  });

  beforeEach(async () => {
    await connect().flushall();
  });

  const checkBound = (times: number[], rate: number, capacity: number): void => {
    times.sort((a, b) => a - b);
    let most = 0;
    for (const [from, start] of times.entries()) {
      for (let to = from; to < times.length; to += 1) {
        const window = (times[to] ?? NaN) - start;
        most = Math.max(most, to - from + 1 - (rate * window) / 1000);
      }
    }
    expect(most).toBeLessThanOrEqual(1 + capacity + (rate * JITTER_MS) / 1000);
  };

  test.each([2, 4])(
    "%i of them stay under the bound in every window, use it all, and take turns",
    async (count) => {
      const rate = 200;
      const limiters = Array.from({ length: count }, () =>
        limiterOf({ maxRowsPerSecond: rate, burstWindowSecs: 0.1 }),
      );
      const times: number[] = [];
      const shares = limiters.map(() => 0);
      const startedAt = performance.now();
      const end = startedAt + 2000;
      await Promise.all(
        limiters.flatMap((limiter, index) =>
          Array.from({ length: 16 }, async () => {
            while (performance.now() < end) {
              await limiter.acquire();
              times.push(performance.now());
              shares[index] = (shares[index] ?? 0) + 1;
            }
          }),
        ),
      );
      const inTime = times.filter((time) => time < end);
      expect(inTime.length).toBeGreaterThan(0.6 * rate * 2);
      checkBound(times, rate, 20);
      for (const share of shares) expect(share).toBeGreaterThan((times.length / count) * 0.35);
    },
    LIMIT_MS,
  );

  test("the order of calls is kept, whatever they ask for", async () => {
    const limiter = limiterOf({ maxRowsPerSecond: 500, burstWindowSecs: 0 });
    const order: number[] = [];
    const costs = Array.from({ length: 60 }, (_, index) => (index % 7 === 0 ? 9 : 1));
    await Promise.all(costs.map((cost, index) => limiter.acquire(cost).then(() => order.push(index))));
    expect(order).toEqual(costs.map((_, index) => index));
  });

  test("a fine rate and a huge one", async () => {
    const name = "huge";
    const huge = limiterOf({ name, maxRowsPerSecond: 5_000_000 });
    await huge.acquire(5_000_000);
    expect(await huge.tryAcquire(5_000_000)).toBe(false);
    const { available } = await huge.stats();
    expect(available).toBeGreaterThan(0);
    await huge.acquire(2_000_000);

    const slow = limiterOf({ name: "slow", maxRowsPerSecond: 3, burstWindowSecs: 0 });
    await slow.acquire();
    const startedAt = performance.now();
    await slow.acquire();
    await slow.acquire();
    expect(performance.now() - startedAt).toBeGreaterThan(600);
    expect(performance.now() - startedAt).toBeLessThan(3000);
  });

  test("what one process says reaches the others: pause, resume, charge, refund, rate", async () => {
    const one = limiterOf({ maxRowsPerSecond: 10, burstWindowSecs: 1 });
    const other = limiterOf({ maxRowsPerSecond: 10, burstWindowSecs: 1 });
    await one.pause(60_000);
    expect(await other.tryAcquire()).toBe(false);
    expect((await other.stats()).pausedForMs).toBeGreaterThan(50_000);
    await other.resume();
    expect((await one.stats()).available).toBeLessThan(8);
    await one.refund(100);
    expect((await other.stats()).available).toBe(10);
    await other.charge(30);
    const { available } = await one.stats();
    expect(available).toBeGreaterThanOrEqual(-20);
    expect(available).toBeLessThan(0);
    await other.setRate({ maxRowsPerSecond: 1000 });
    await one.acquire();
    expect(await other.stats()).toMatchObject({ capacity: 1000, grantedTokens: 0 });
    expect(await one.stats()).toMatchObject({ capacity: 1000, grantedTokens: 1, granted: 1 });
    expect(await connect().ttl("tidegate:{shared}")).toBe(-1);
  });

  test("scripts that are forgotten are sent again, and nothing is lost", async () => {
    const limiter = limiterOf({ maxRowsPerSecond: 10 });
    await limiter.acquire(4);
    await connect().script("FLUSH");
    await limiter.acquire(4);
    const { available } = await limiter.stats();
    expect(available).toBeGreaterThanOrEqual(2);
    expect(available).toBeLessThan(10);
  });

  test("what one who leaves has not used goes back", async () => {
    const limiter = limiterOf({ maxRowsPerSecond: 10, burstWindowSecs: 0 });
    await limiter.acquire();
    const leaver = new AbortController();
    const call = limiter.acquire(1000, { signal: leaver.signal });
    const available = async (): Promise<number> => (await limiter.stats()).available;
    while ((await available()) > -900) continue; // until it is reserved
    leaver.abort("gone");
    await expect(call).rejects.toBe("gone");
    await available(); // behind what goes back
    expect(await available()).toBeGreaterThan(-2);
  });
});
