import { createHash } from "node:crypto";
import { Ratelimit } from "@upstash/ratelimit";
import { connect } from "./redis.mjs";

export function overRedis({ limit, windowMs, redisPort }) {
  const redis = redisOf(redisPort, { withFlags: true });
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

/**
 * The library's own client speaks HTTP to a hosted service; this one speaks to the Redis server at that port.
 *
 * @param {{ withFlags: boolean }} options Whether scripts keep the first line with their flags, one of which only the hosted
 *   service knows: a stock server refuses the script.
 */
export function redisOf(port, { withFlags }) {
  const client = connect(port);
  /** What the server knows a script by, by what the library knows it by: the text that is sent is not its own. */
  const known = new Map();
  let unknown;
  return {
    evalsha(sha, keys, args) {
      if (!withFlags && !known.has(sha)) {
        unknown = sha;
        throw new Error("NOSCRIPT");
      }
      return client.evalsha(known.get(sha) ?? sha, keys.length, ...keys, ...args);
    },
    eval(script, keys, args) {
      const sent = withFlags ? script : script.replace(/^#!.*\n/, "");
      if (!withFlags) known.set(unknown, createHash("sha1").update(sent).digest("hex"));
      return client.eval(sent, keys.length, ...keys, ...args);
    },
    get: (key) => client.get(key),
    set: (key, value) => client.set(key, value),
  };
}
