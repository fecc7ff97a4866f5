import { setTimeout as pass } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { RateLimiter } from "tidegate";
import { RedisRateLimiter, type RedisRateLimiterOptions, StoreUnavailableError } from "tidegate/redis";
import { endOf } from "../../support/redis-fault-rig.js";
import { describeWithRedis, RedisServer } from "../../support/redis-server.js";

const LIMIT_MS = 60_000;

describeWithRedis("a primary and its replica", () => {
  let primary: RedisServer;
  let replica: RedisServer;
  const clients: Redis[] = [];

  const connect = ({ port }: RedisServer): Redis => {
    const options = { autoResendUnfulfilledCommands: false, retryStrategy: () => 50 };
    const client = new Redis(port, "127.0.0.1", options);
    client.on("error", () => undefined);
    clients.push(client);
    return client;
  };

  beforeAll(async () => {
    primary = await RedisServer.start();
    replica = await RedisServer.start(["--replicaof", "127.0.0.1", String(primary.port)]);
    const client = connect(replica);
    while (!(await client.info("replication")).includes("master_link_status:up")) await pass(50);
  }, LIMIT_MS);

  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await primary.stop();
    await replica.stop();
  });

  test(
    "a replica refuses, and nothing is granted",
    async () => {
      const options = { client: connect(replica), name: "read-only", maxRowsPerSecond: 100 };
      const throwing = new RedisRateLimiter({ ...options, onStoreError: "throw" });
      await expect(throwing.acquire()).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        cause: { message: expect.stringContaining("READONLY") as unknown },
      });
      const waiting = new RedisRateLimiter(options);
      await expect(waiting.acquire(1, { maxWaitMs: 300 })).rejects.toMatchObject({ code: "WAIT_TOO_LONG" });
    },
    LIMIT_MS,
  );

  test(
    "the primary killed and the replica promoted: those who wait are served in their order, others are told or served here, and the state is there",
    async () => {
      let client = connect(primary);
      const limiterOf = (onStoreError: RedisRateLimiterOptions["onStoreError"]): RedisRateLimiter =>
        new RedisRateLimiter({
          client: ([command = "", ...args]) => client.call(command, ...args),
          name: "moves",
          maxRowsPerSecond: 50,
          burstWindowSecs: 0,
          storeTimeoutMs: 200,
          onStoreError,
        });
      const limiter = limiterOf("wait");
      const throwing = limiterOf("throw");
      const local = new RateLimiter({ maxRowsPerSecond: 1000 });
      const falling = limiterOf(local);
      await limiter.setRate({ maxRowsPerSecond: 40 });
      const order: number[] = [];
      const calls = Array.from({ length: 20 }, (_, index) => limiter.acquire().then(() => order.push(index)));
      await calls[4];
      await pass(100); // for the replica to have it
      await primary.stop();
      await expect(throwing.acquire()).rejects.toBeInstanceOf(StoreUnavailableError);
      await falling.acquire();
      expect(local.stats().granted).toBe(1);
      expect(order.length).toBeLessThan(20);
      client = connect(replica);
      await client.call("REPLICAOF", "NO", "ONE");
      await Promise.all(calls);
      expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index));
      while ((await endOf(throwing.acquire())).how !== "granted") await pass(10);
      while (falling.limiterReport().granted === 0) await falling.acquire();
      // The rate that was set has come with it.
      expect(await client.hget("tidegate:{moves}", "rate1")).toBe("40");
    },
    LIMIT_MS,
  );
});
