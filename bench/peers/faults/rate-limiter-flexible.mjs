import { RateLimiterMemory, RateLimiterQueue } from "rate-limiter-flexible";

export function queue({ limit, windowMs }) {
  const limiter = queueOf({ limit, windowMs });
  return {
    async run(job, { cost = 1 } = {}) {
      await limiter.removeTokens(cost);
      return job();
    },
  };
}

export function keyed({ limit, windowMs }) {
  const limiter = queueOf({ limit, windowMs });
  return { acquire: (key) => limiter.removeTokens(1, key) };
}

function queueOf({ limit, windowMs }) {
  // An option of Infinity is refused; a million is more than any probe queues.
  const options = { maxQueueSize: 1_000_000 };
  return new RateLimiterQueue(new RateLimiterMemory({ points: limit, duration: windowMs / 1000 }), options);
}
