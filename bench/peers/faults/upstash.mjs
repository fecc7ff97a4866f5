import { Ratelimit } from "@upstash/ratelimit";
import { connect } from "./redis.mjs";

/** Its client speaks HTTP to a hosted service; this one speaks to a Redis server. */
export function overRedis({ limit, windowMs, redisPort }) {
  const client = connect(redisPort);
  const redis = {
    eval: (script, keys, args) => client.eval(script, keys.length, ...keys, ...args),
    evalsha: (sha, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args),
    get: (key) => client.get(key),
    set: (key, value) => client.set(key, value),
  };
  const algorithm = Ratelimit.tokenBucket(limit, `${String(windowMs / limit)} ms`, limit);
  const limiter = new Ratelimit({ redis, limiter: algorithm, ephemeralCache: false });
  return {
    async run(job) {
      const { success } = await limiter.blockUntilReady("compare", 10 * windowMs);
      if (!success) throw new Error("not granted");
      return job();
    },
  };
}
