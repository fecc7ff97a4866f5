import { Redis } from "ioredis";
import { RedisRateLimiter } from "tidegate/redis";

export default {
  uses: "`RedisRateLimiter.acquire`, over ioredis",
  create({ port, rate, burst }) {
    const client = new Redis({ port, host: "127.0.0.1", autoResendUnfulfilledCommands: false });
    const limiter = new RedisRateLimiter({
      client,
      name: "bench",
      maxRowsPerSecond: rate,
      burstWindowSecs: burst / rate,
    });
    return () => limiter.acquire();
  },
};
