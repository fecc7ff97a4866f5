import { KeyedRateLimiter, type KeyedRateLimiterOptions } from "../../../../src/rate-limit/index.js";
import { WatchedClock } from "./clocks.js";

export interface KeyedSetUp<K> {
  readonly clock: WatchedClock;
  readonly keyed: KeyedRateLimiter<K>;
}

/** A keyed limiter of that rate and capacity for each key, on a manual clock at 0. */
export function setUpKeyed<K = string>(
  rate: number,
  capacity: number,
  options: Partial<KeyedRateLimiterOptions> = {},
): KeyedSetUp<K> {
  const clock = new WatchedClock();
  const keyed = new KeyedRateLimiter<K>({
    maxRowsPerSecond: rate,
    burstWindowSecs: capacity / rate,
    clock,
    ...options,
  });
  return { clock, keyed };
}
