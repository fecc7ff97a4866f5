import type { Clock } from "../../../../src/clock.js";
import {
  type AcquireOptions,
  RateLimiter,
  type RateLimiterOptions,
} from "../../../../src/rate-limit/index.js";
import { WatchedClock } from "./clocks.js";
import { Trace } from "./trace.js";

export interface SetUp<K extends Clock = WatchedClock> {
  readonly clock: K;
  readonly limiter: RateLimiter;
  readonly trace: Trace;
  /** Calls `acquire` and writes down under `label` what becomes of it. */
  readonly acquire: (label: string, n?: number, options?: AcquireOptions) => void;
}

/** A limiter of that rate and capacity on a manual clock at 0. */
export function setUp(rate: number, capacity: number, options: Partial<RateLimiterOptions> = {}): SetUp {
  return setUpOn(new WatchedClock(), rate, capacity, options);
}

/** The same on a clock of choice. */
export function setUpOn<K extends Clock>(
  clock: K,
  rate: number,
  capacity: number,
  options: Partial<RateLimiterOptions> = {},
): SetUp<K> {
  const limiter = new RateLimiter({
    maxRowsPerSecond: rate,
    burstWindowSecs: capacity / rate,
    clock,
    ...options,
  });
  const trace = new Trace(clock);
  const acquire = (label: string, n?: number, how?: AcquireOptions): void => {
    trace.follow(label, limiter.acquire(n, how));
  };
  return { clock, limiter, trace, acquire };
}

/** The labels `name1` to `nameN`. */
export function labels(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name}${String(index + 1)}`);
}
