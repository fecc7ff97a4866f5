import { Redis } from "ioredis";
import { RedisRateLimiter } from "tidegate/redis";

/** A full bucket of `limit` tokens that refills in `windowMs`, on a Redis server. */
export function overRedis({ limit, windowMs, redisPort }) {
  const client = new Redis({ port: redisPort, host: "127.0.0.1", autoResendUnfulfilledCommands: false });
  const limiter = new RedisRateLimiter({
    client,
    name: "compare",
    maxRowsPerSecond: (limit * 1000) / windowMs,
    burstWindowSecs: windowMs / 1000,
    onStoreError: "throw",
  });
  return {
    async run(job) {
      await limiter.acquire();
      return job();
    },
  };
}
