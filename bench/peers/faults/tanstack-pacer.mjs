import { AsyncRateLimiter } from "@tanstack/pacer";

/** It refuses what does not fit; it never waits. */
export function perWindow({ limit, windowMs }) {
  const limiter = new AsyncRateLimiter(async (job) => job(), { limit, window: windowMs });
  return { run: (job) => limiter.maybeExecute(job) };
}
