/// <reference lib="esnext.disposable" preserve="true" />
import { requireCount, requireFinite, requireFunction, requireObject } from "../internal/checks.js";
import { imitate } from "../internal/imitate.js";
import type { AcquireOptions, Limiter } from "./limiter.js";
import { checkAcquireOptions } from "./limiter.js";
import { limiterObserver } from "./observer.js";
import type { RateLimiterOptions } from "./rate-limiter-options.js";
import { resolveOptions } from "./rate-limiter-options.js";
import type { RateOptions, RateSettings } from "./shape.js";
import { resolveRate, shapeOf } from "./shape.js";
import { TokenBucket } from "./token-bucket.js";
import { WaitingLine } from "./waiting-line.js";

export interface RateLimiterStats {
  /** Tokens in the bucket now: may be fractional; negative is debt. */
  readonly available: number;
  /** Most tokens that the bucket holds while nobody waits. */
  readonly capacity: number;
  /** Callers that wait now. */
  readonly queued: number;
  /** Tokens that they wait for. */
  readonly queuedTokens: number;
  /** Calls granted so far, `tryAcquire` included; `n = 0` is not counted. */
  readonly granted: number;
  /** Tokens granted so far, before refunds. */
  readonly grantedTokens: number;
  /** Callers that left the line without tokens. */
  readonly aborted: number;
  /** The time that all callers together have waited, in milliseconds, those in line included. */
  readonly waitedMs: number;
  /** Milliseconds until the pause ends; 0 when none holds. */
  readonly pausedForMs: number;
}

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
export class RateLimiter implements Limiter, Disposable {
  /** For errors and metrics. */
  readonly name: string;
  #rate: RateSettings;
  readonly #bucket: TokenBucket;
  readonly #line: WaitingLine<number>;

  /** @throws InvalidArgumentError (`ARGUMENT_INVALID`) for an option that cannot be; it names the option. */
  constructor(options: RateLimiterOptions) {
    const { rate, shape, maxQueue, initialTokens, name, clock } = resolveOptions(options);
    this.name = name;
    this.#rate = rate;
    this.#bucket = new TokenBucket(shape, initialTokens, clock.now());
    this.#line = new WaitingLine({ name, clock, maxQueue, meter: this.#bucket });
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
      requireCount("n", n);
      if (options !== undefined) checkAcquireOptions(options);
      return this.#line.acquire(n, options, n === 0);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Takes `n` tokens now, or nothing. False while anyone waits, and always for more than the capacity.
   *
   * @param n - Tokens, an integer from 0 up. Default 1.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` cannot be.
   * @throws LimiterClosedError (`LIMITER_CLOSED`) when the limiter is closed.
   */
  tryAcquire(n = 1): boolean {
    requireCount("n", n);
    if (this.#line.isClosed) throw this.#line.closedError();
    return n === 0 || (this.#bucket.holds(n) && this.#line.tryTake(n, this.#line.clock.now()));
  }

  /**
   * How long a call made now would wait behind all others, in milliseconds; 0 when it would be granted now, Infinity
   * when the limiter is closed.
   *
   * @param n - Tokens, an integer from 0 up. Default 1.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` cannot be.
   */
  estimateWaitMs(n = 1): number {
    requireCount("n", n);
    if (this.#line.isClosed) return Infinity;
    return n === 0 ? 0 : this.#bucket.estimateMs(n, this.#line.clock.now());
  }

  /**
   * Gives back tokens that were taken and turned out not to be needed, up to the capacity.
   *
   * @param n - Tokens, an integer from 0 up.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` cannot be.
   */
  refund(n: number): void {
    requireCount("n", n);
    const now = this.#line.clock.now();
    this.#bucket.refund(n, now);
    this.#line.wake(now);
  }

  /**
   * Takes tokens that turned out to be needed, whether they are there or not: later callers wait for them.
   *
   * @param n - Tokens, an integer from 0 up.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` cannot be.
   */
  charge(n: number): void {
    requireCount("n", n);
    this.#bucket.charge(n, this.#line.clock.now());
  }

  /**
   * Grants nothing for `ms` from now; of two pauses the one that ends later holds. When it ends the bucket holds at
   * most one token, so that waiters come back at the sustained rate.
   *
   * @param ms - Milliseconds, finite, from 0 up.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `ms` cannot be.
   */
  pause(ms: number): void {
    requireFinite("ms", ms, 0, "milliseconds");
    const now = this.#line.clock.now();
    this.#bucket.pause(ms, now);
    limiterObserver()?.paused({ limiter: this.name, ms: this.#bucket.pausedForMs(now) });
  }

  /** Ends a pause now. Does nothing when none holds. */
  resume(): void {
    const now = this.#line.clock.now();
    this.#bucket.resume(now);
    this.#line.wake(now);
  }

  /**
   * Changes the rate, the burst window, or both, for the callers in line too. The level is kept in tokens, debt
   * included, up to the new capacity; what is left out stays. A change that throws changes nothing.
   *
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when an option cannot be.
   */
  setRate(options: Partial<RateOptions>): void {
    const rate = resolveRate(requireObject("options", options), this.#rate);
    const now = this.#line.clock.now();
    this.#bucket.reshape(shapeOf(rate), now);
    this.#rate = rate;
    this.#line.wake(now);
  }

  /** Resolves when nobody waits any more; at once when nobody does. */
  onIdle(): Promise<void> {
    return this.#line.onIdle();
  }

  /**
   * Rejects whoever waits, and every later call, with a LimiterClosedError. Calling it again does nothing.
   *
   * @param reason - Becomes the `cause` of that error.
   */
  close(reason?: unknown): void {
    this.#line.close(reason);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /**
   * Makes a function that takes tokens before each call of `f`.
   *
   * @param cost - Tokens for one call, from its arguments. Default: 1.
   * @returns A function with the signature, name and length of `f`; `this` is passed on.
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- any signature is kept
  wrap<F extends (...args: any[]) => Promise<any>>(f: F, cost?: (...args: Parameters<F>) => number): F {
    requireFunction("f", f);
    if (cost !== undefined) requireFunction("cost", cost);
    const acquire = (n: number): Promise<void> => this.acquire(n);
    const wrapped = async function (this: unknown, ...args: Parameters<F>): Promise<unknown> {
      await acquire(cost === undefined ? 1 : requireCount("cost", cost(...args)));
      return (await f.apply(this, args)) as unknown;
    };
    return imitate(wrapped as F, f);
  }

  /** What the limiter has done and how it stands, read at one moment. */
  stats(): RateLimiterStats {
    const now = this.#line.clock.now();
    return {
      available: this.#bucket.available(now),
      capacity: this.#bucket.capacity,
      queued: this.#line.queued,
      queuedTokens: this.#bucket.queued,
      granted: this.#line.granted,
      grantedTokens: this.#bucket.taken,
      aborted: this.#line.aborted,
      waitedMs: this.#line.waitedMs(now),
      pausedForMs: this.#bucket.pausedForMs(now),
    };
  }
}
