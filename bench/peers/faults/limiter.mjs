import { RateLimiter, TokenBucket } from "limiter";

export function perWindow({ limit, windowMs }) {
  const limiter = new RateLimiter({ tokensPerInterval: limit, interval: windowMs });
  return {
    async run(job, { cost = 1 } = {}) {
      await limiter.removeTokens(cost);
      return job();
    },
  };
}

/** A bucket for large requests among small ones, which take a token if there is one. */
export function smallOnesTry({ limit, windowMs }) {
  const bucket = new TokenBucket({ bucketSize: limit, tokensPerInterval: limit, interval: windowMs });
  return { take: (count) => bucket.removeTokens(count), takeSmall: () => bucket.tryRemoveTokens(1) };
}
