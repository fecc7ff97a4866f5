import { Ratelimit } from "@upstash/ratelimit";
import { redisOf } from "../faults/upstash.mjs";

/** So often the bucket is refilled, in milliseconds: the library knows steps, not a rate. */
const STEP_MS = 10;

export default {
  library: "@upstash/ratelimit",
  uses: `\`blockUntilReady\`, token bucket refilled every ${String(STEP_MS)} ms, over the same ioredis client`,
  create({ port, rate, burst }) {
    const algorithm = Ratelimit.tokenBucket((rate * STEP_MS) / 1000, `${String(STEP_MS)} ms`, burst);
    const limiter = new Ratelimit({
      redis: redisOf(port, { withFlags: false }),
      limiter: algorithm,
      ephemeralCache: false,
    });
    return async () => {
      const { success } = await limiter.blockUntilReady("bench", 60_000);
      if (!success) throw new Error("not granted");
    };
  },
};
