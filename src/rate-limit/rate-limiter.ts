import { requireCount } from "../internal/checks.js";
import type { BucketStats, DimensionStats, LineStats } from "../internal/limiter-report.js";
import {
  type BucketOptions,
  makeBucket,
  type RatedBucket,
  type RateOptions,
  type RateSettings,
  resolveRate,
} from "./bucket/rated-bucket.js";
import { limitCalls } from "./limit-calls.js";
import type { AcquireOptions, Limiter } from "./limiter.js";
import { LineLimiter } from "./line-limiter.js";
import { type LineOptions, resolveLineOptions } from "./line-options.js";

export interface RateLimiterOptions extends BucketOptions, LineOptions {}

/** What a limiter has done and how it stands, read at one moment. */
export interface RateLimiterStats extends BucketStats, LineStats {}

/**
 * A token bucket with a waiting line: a sustained rate plus a burst, first in, first out, one timer.
 *
 * In every window of `w` seconds it grants at most `capacity + maxRowsPerSecond * w` tokens. Making one does nothing:
 * it starts no timer, and holds the process open only while somebody waits.
 *
 * @example
 * const limiter = new RateLimiter({ maxRowsPerSecond: 50 });
 * await limiter.acquire();
 */
export class RateLimiter extends LineLimiter<number, void, RatedBucket> implements Limiter {
  /** @throws InvalidArgumentError (`ARGUMENT_INVALID`) for an option that cannot be; it names the option. */
  constructor(options: RateLimiterOptions) {
    const settings = resolveLineOptions(options, "limiter");
    super(settings, makeBucket(options, settings.clock.now()));
  }

  /**
   * Waits until `n` tokens are free, then takes them. Calls are served in the order in which they were made: a small
   * one never overtakes a large one. A call for more than the capacity is served too; it takes tokens as they come.
   *
   * Inside a run, a time limit or a fan-out, a waiting call is released when that ends; no signal is needed for it.
   *
   * @param n - Tokens, an integer from 0 up. Default 1. 0 is granted at once.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` or an option cannot be.
   * @throws LimiterClosedError (`LIMITER_CLOSED`) when the limiter is closed, now or while the call waits.
   * @throws QueueFullError (`QUEUE_FULL`) when `maxQueue` callers wait already.
   * @throws WaitTooLongError (`WAIT_TOO_LONG`) when the wait does not fit in `maxWaitMs` or in the time limit around.
   * @throws The signal's `reason`, unchanged, when it aborts before the tokens were taken.
   * @example
   * await limiter.acquire(3, { signal: AbortSignal.timeout(5_000) });
   */
  acquire(n = 1, options?: AcquireOptions): Promise<void> {
    try {
      return this.acquireCost(requireCount("n", n), options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Takes `n` tokens now, or nothing. False while anyone waits, and always for more than the capacity; 0 is always granted.
   *
   * @param n - Tokens, an integer from 0 up. Default 1.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` cannot be.
   * @throws LimiterClosedError (`LIMITER_CLOSED`) when the limiter is closed.
   */
  tryAcquire(n = 1): boolean {
    return this.tryAcquireCost(requireCount("n", n));
  }

  /**
   * How long a call made now would wait behind all others, in milliseconds; 0 when it would be granted now, Infinity
   * when the limiter is closed.
   *
   * @param n - Tokens, an integer from 0 up. Default 1.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` cannot be.
   */
  estimateWaitMs(n = 1): number {
    return this.estimateCostMs(requireCount("n", n));
  }

  /**
   * Gives back tokens that were taken and turned out not to be needed, up to the capacity.
   *
   * @param n - Tokens, an integer from 0 up.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` cannot be.
   */
  refund(n: number): void {
    requireCount("n", n);
    this.change((bucket, now) => {
      bucket.refund(n, now);
    });
  }

  /**
   * Takes tokens that turned out to be needed, whether they are there or not: later callers wait for them.
   *
   * @param n - Tokens, an integer from 0 up.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` cannot be.
   */
  charge(n: number): void {
    this.meter.charge(requireCount("n", n), this.now);
  }

  /**
   * Changes the rate, the burst window, or both, for the callers in line too. The level is kept in tokens, debt
   * included, up to the new capacity; what is left out stays. A change that throws changes nothing.
   *
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when an option cannot be.
   */
  setRate(options: Partial<RateOptions>): void {
    const rate = resolveRate(options, this.meter.rate);
    this.change((bucket, now) => {
      bucket.changeRate(rate, now);
    });
  }

  /**
   * Makes a function that takes tokens before each call of `f`.
   *
   * @param cost - Tokens for one call, from its arguments. Default: 1.
   * @returns A function with the signature, name and length of `f`; `this` is passed on.
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- any signature is kept
  wrap<F extends (...args: any[]) => Promise<any>>(f: F, cost?: (...args: Parameters<F>) => number): F {
    return limitCalls(this, f, cost);
  }

  /** What the limiter has done and how it stands, read at one moment. */
  stats(): RateLimiterStats {
    return { ...this.meter.stats(this.now), ...this.lineStats() };
  }

  /**
   * Whether it cannot be told from one that was made now at that rate: open, full, nobody waits, no pause holds.
   *
   * @internal
   */
  isAsNew(start: RateSettings): boolean {
    const { rate } = this.meter;
    const isSameRate =
      rate.maxRowsPerSecond === start.maxRowsPerSecond && rate.burstWindowSecs === start.burstWindowSecs;
    return isSameRate && this.isAtRest && this.meter.isFull(this.now);
  }

  protected dimensionStats(): readonly DimensionStats[] {
    return [this.meter.dimensionStats(this.now)];
  }

  protected isFree(n: number): boolean {
    return n === 0;
  }
}
