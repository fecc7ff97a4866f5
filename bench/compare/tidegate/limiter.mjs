import { KeyedRateLimiter, RateLimiter } from "tidegate/rate-limit";

/**
 * At most `limit` in every window of that length: a burst of 2, and the rest as the rate.
 * (docs/guides/several-budgets.md: burst + rate * window add up to what the service allows in one window.)
 */
export function inWindow({ limit, windowMs }) {
  const burst = 2;
  const rate = ((limit - burst) * 1000) / windowMs;
  return runner(new RateLimiter({ maxRowsPerSecond: rate, burstWindowSecs: burst / rate }));
}

/** `limit` tokens in `windowMs`, at even distances. */
export function spaced({ limit, windowMs }) {
  return runner(new RateLimiter({ maxRowsPerSecond: (limit * 1000) / windowMs, burstWindowSecs: 0 }));
}

/** A full bucket of `limit` tokens that refills in `windowMs`. */
export function bucket(options) {
  return runner(bucketOf(options));
}

export function perSecond({ rate }) {
  return spaced({ limit: rate, windowMs: 1_000 });
}

/** The same bucket for large requests among small ones, which take a token if there is one. */
export function smallOnesTry(options) {
  const limiter = bucketOf(options);
  return { take: (count) => limiter.acquire(count), takeSmall: () => limiter.tryAcquire() };
}

/** The same, but the small ones wait in line too. */
export function smallOnesWait(options) {
  const limiter = bucketOf(options);
  return { take: (count) => limiter.acquire(count), takeSmall: () => void limiter.acquire() };
}

export function keyed(options) {
  const limiter = new KeyedRateLimiter(optionsOf(options));
  return { acquire: (key) => limiter.acquire(key), countKeys: () => limiter.size };
}

/** A client that pauses its limiter when the server says so, and then repeats the request. */
export function client(fetch) {
  const limiter = new RateLimiter({ maxRowsPerSecond: 1_000 });
  return {
    async get(path) {
      for (;;) {
        await limiter.acquire();
        const response = await fetch(new URL(path, "http://localhost").href);
        if (response.status !== 429) return response;
        limiter.pause(Number(response.headers.get("retry-after")) * 1000);
      }
    },
  };
}

function bucketOf(options) {
  return new RateLimiter(optionsOf(options));
}

function optionsOf({ limit, windowMs }) {
  return { maxRowsPerSecond: (limit * 1000) / windowMs, burstWindowSecs: windowMs / 1000 };
}

function runner(limiter) {
  const controller = new AbortController();
  return {
    async run(job, { cost = 1 } = {}) {
      await limiter.acquire(cost, { signal: controller.signal.aborted ? undefined : controller.signal });
      return job();
    },
    abortWaiters() {
      controller.abort(new Error("aborted"));
    },
  };
}
