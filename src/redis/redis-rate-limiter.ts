import { requireCount } from "../internal/checks.js";
import type { BucketStats, LineStats } from "../internal/limiter-report.js";
import { makeBucket, type RateOptions } from "../rate-limit/bucket/rated-bucket.js";
import type { AcquireOptions, Limiter } from "../rate-limit/limiter.js";
import { limitCalls } from "../rate-limit/limit-calls.js";
import { type RedisRateLimiterOptions, resolveChange, resolveOptions, resolveSharedRate } from "./options.js";
import { RedisLineLimiter } from "./redis-line-limiter.js";

/** What the line of this process has done, and how the bucket of all stands, read at one moment. */
export interface RedisRateLimiterStats extends BucketStats, LineStats {}

/**
 * A token bucket that all processes share which use its name, on Redis or Valkey, with a waiting line in each: first
 * in, first out within a process; processes take turns.
 *
 * In every window of `w` seconds all of them together are granted at most `capacity + maxRowsPerSecond * w` tokens, and
 * what the rate gives in the time by which answers of the server differ in being late. Making one sends nothing.
 *
 * @example
 * const limiter = new RedisRateLimiter({ client, name: "search-api", maxRowsPerSecond: 50 });
 * await limiter.acquire();
 */
export class RedisRateLimiter extends RedisLineLimiter<number, void> implements Limiter {
  /** @throws InvalidArgumentError (`ARGUMENT_INVALID`) for an option that cannot be; it names the option. */
  constructor(options: RedisRateLimiterOptions) {
    const settings = resolveOptions(options);
    const { line, clock, onStoreError } = settings;
    const bucket = makeBucket(resolveSharedRate(options), clock.now());
    super({
      settings,
      key: `tidegate:{${line.name}}`,
      own: bucket,
      buckets: [bucket],
      amountsOf: (n) => [n],
      fallback: typeof onStoreError === "string" ? undefined : onStoreError,
    });
  }

  /**
   * Waits until `n` tokens are free, then takes them. Calls of this process are served in the order in which they were
   * made. A call for more than the capacity is served too.
   *
   * Inside a run, a time limit or a fan-out, a waiting call is released when that ends; no signal is needed for it.
   *
   * @param n - Tokens, an integer from 0 up. Default 1. 0 is granted at once.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` or an option cannot be.
   * @throws LimiterClosedError (`LIMITER_CLOSED`) when the limiter is closed, now or while the call waits.
   * @throws QueueFullError (`QUEUE_FULL`) when `maxQueue` callers wait already.
   * @throws WaitTooLongError (`WAIT_TOO_LONG`) when the wait does not fit in `maxWaitMs` or in the time limit around.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach and `onStoreError` is "throw".
   * @throws The signal's `reason`, unchanged, when it aborts before the tokens were taken.
   */
  acquire(n = 1, options?: AcquireOptions): Promise<void> {
    try {
      return this.acquireCost(requireCount("n", n), options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Takes `n` tokens now, or nothing. False while anyone waits, in this process or another one, and always for more than
   * the capacity; 0 is always granted.
   *
   * @param n - Tokens, an integer from 0 up. Default 1.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` cannot be.
   * @throws LimiterClosedError (`LIMITER_CLOSED`) when the limiter is closed.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach, whatever `onStoreError` says.
   */
  async tryAcquire(n = 1): Promise<boolean> {
    return this.tryAcquireCost(requireCount("n", n));
  }

  /**
   * Gives back tokens that were taken and turned out not to be needed, up to the capacity.
   *
   * @param n - Tokens, an integer from 0 up.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` cannot be.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach: it may have come to it or not.
   */
  async refund(n: number): Promise<void> {
    await this.correct([requireCount("n", n)]);
  }

  /**
   * Takes tokens that turned out to be needed, whether they are there or not: later callers wait for them.
   *
   * @param n - Tokens, an integer from 0 up.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` cannot be.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach: it may have come to it or not.
   */
  async charge(n: number): Promise<void> {
    await this.correct([-requireCount("n", n)]);
  }

  /**
   * Changes the rate, the burst window, or both, for all processes, until it is changed again: it is kept in the store
   * without an end, and goes before what limiters are made with. The level is kept in tokens, debt included, up to the
   * new capacity; what is left out stays.
   *
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when an option cannot be.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach: it may have come to it or not.
   */
  async setRate(options: Partial<RateOptions>): Promise<void> {
    await this.tell("rate", resolveChange(options));
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

  /**
   * How the bucket stands, and what the line of this process has done.
   *
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach.
   */
  async stats(): Promise<RedisRateLimiterStats> {
    await this.look();
    return { ...this.bucketStats(0), ...this.lineStats() };
  }

  protected isFree(n: number): boolean {
    return n === 0;
  }

  protected dimensionName(): undefined {
    return undefined;
  }
}
