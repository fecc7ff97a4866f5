/// <reference lib="esnext.disposable" preserve="true" />
import type { Clock } from "../clock.js";
import { requireCount, requireFinite } from "../internal/checks.js";
import { limiterObserver } from "../internal/limiter-observer.js";
import type { BucketStats, LimiterReport, LineStats } from "../internal/limiter-report.js";
import type { RateOptions } from "../rate-limit/bucket/rated-bucket.js";
import { type AcquireOptions, checkAcquireOptions, type Limiter } from "../rate-limit/limiter.js";
import { limitCalls } from "../rate-limit/limit-calls.js";
import { WaitingLine } from "../rate-limit/line/waiting-line.js";
import { type AcquireOfStore, acquireBy } from "./acquire-by.js";
import { type RedisRateLimiterOptions, resolveChange, resolveOptions } from "./options.js";
import { RedisMeter } from "./redis-meter.js";
import { type Answer, type Command, Store } from "./store.js";

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
export class RedisRateLimiter implements Limiter, Disposable {
  /** What the processes share, also for errors and metrics. */
  readonly name: string;
  readonly #clock: Clock;
  readonly #line: WaitingLine<number>;
  readonly #meter: RedisMeter;
  readonly #store: Store;
  readonly #acquire: AcquireOfStore;

  /** @throws InvalidArgumentError (`ARGUMENT_INVALID`) for an option that cannot be; it names the option. */
  constructor(options: RedisRateLimiterOptions) {
    const { line, rate, send, clock, timeoutMs, onStoreError } = resolveOptions(options);
    this.name = line.name;
    this.#clock = clock;
    this.#store = new Store({ name: line.name, send, clock, timeoutMs, rate });
    const isImpatient = onStoreError !== "wait";
    this.#meter = new RedisMeter({ store: this.#store, clock, timeoutMs, isImpatient, rate });
    this.#line = new WaitingLine({ ...line, meter: this.#meter });
    this.#acquire = acquireBy(onStoreError, this.#line, this.#meter.outage, () => {
      this.#meter.probe();
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
      requireCount("n", n);
      if (options !== undefined) checkAcquireOptions(options);
      return this.#acquire(n, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Takes `n` tokens now, or nothing. False while anyone waits in this process, and always for more than the capacity;
   * 0 is always granted.
   *
   * @param n - Tokens, an integer from 0 up. Default 1.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` cannot be.
   * @throws LimiterClosedError (`LIMITER_CLOSED`) when the limiter is closed.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach, whatever `onStoreError` says.
   */
  async tryAcquire(n = 1): Promise<boolean> {
    requireCount("n", n);
    this.#requireOpen();
    if (n === 0) return true;
    if (this.#line.queued > 0) return false;
    const { found } = await this.#tell("take", [n], (answer) => {
      if (answer.found.length > 0) this.#meter.giveBack(answer, n);
    });
    if (found.length === 0) return false;
    this.#meter.own.charge(n, this.#clock.now());
    this.#meter.own.taken += n;
    this.#line.granted += 1;
    limiterObserver()?.granted({ limiter: this.name, cost: n, waitedMs: 0, call: undefined });
    return true;
  }

  /**
   * Gives back tokens that were taken and turned out not to be needed, up to the capacity.
   *
   * @param n - Tokens, an integer from 0 up.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` cannot be.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach: it may have come to it or not.
   */
  async refund(n: number): Promise<void> {
    await this.#tell("refund", [requireCount("n", n)]);
    this.#meter.own.refund(n, this.#clock.now());
    this.#line.wake();
  }

  /**
   * Takes tokens that turned out to be needed, whether they are there or not: later callers wait for them.
   *
   * @param n - Tokens, an integer from 0 up.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `n` cannot be.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach: it may have come to it or not.
   */
  async charge(n: number): Promise<void> {
    await this.#tell("charge", [requireCount("n", n)]);
  }

  /**
   * Grants nothing for `ms` from now; of two pauses the one that ends later holds. It holds here when the promise
   * resolves, and in another process from the next time that it asks the store: within what it has set aside already,
   * about 75 ms of the rate, or a second for a call that waits longer. When it ends the bucket holds at most one token.
   *
   * @param ms - Milliseconds, finite, from 0 up.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `ms` cannot be.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach: it may have come to it or not.
   */
  async pause(ms: number): Promise<void> {
    const { pausedForMs } = await this.#tell("pause", [requireFinite("ms", ms, 0, "milliseconds")]);
    limiterObserver()?.paused({ limiter: this.name, ms: pausedForMs });
  }

  /**
   * Ends a pause now, for all processes within a second. Does nothing when none holds.
   *
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach: it may have come to it or not.
   */
  async resume(): Promise<void> {
    await this.#tell("resume", []);
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
    const { maxRowsPerSecond = "", burstWindowSecs = "" } = resolveChange(options);
    await this.#tell("rate", [maxRowsPerSecond, burstWindowSecs]);
  }

  /** Resolves when nobody waits in this process any more; at once when nobody does. */
  onIdle(): Promise<void> {
    return this.#line.onIdle();
  }

  /**
   * Rejects whoever waits in this process, and every later call, with a LimiterClosedError; what was set aside goes back to
   * the store. The client stays open. Calling it again does nothing.
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
    return limitCalls(this, f, cost);
  }

  /**
   * How the bucket stands, and what the line of this process has done.
   *
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach.
   */
  async stats(): Promise<RedisRateLimiterStats> {
    if (!this.#line.isClosed) await this.#tell("look", [""]);
    return { ...this.#bucketStats(), ...this.#lineStats() };
  }

  /**
   * For who finds a limiter among provided values: the bucket as it was last heard of.
   *
   * @internal
   */
  limiterReport(): LimiterReport {
    const dimension = {
      name: undefined,
      maxRowsPerSecond: this.#meter.own.rate.maxRowsPerSecond,
      ...this.#bucketStats(),
    };
    return { ...this.#lineStats(), dimensions: [dimension] };
  }

  /** Does what is not to wait in line. */
  async #tell(
    command: Command,
    args: readonly (string | number)[],
    onLate?: (answer: Answer) => void,
  ): Promise<Answer> {
    this.#requireOpen();
    const answer = await this.#store.call(command, args, (late) => {
      if (late !== undefined) onLate?.(late);
    });
    this.#meter.learn(answer);
    this.#line.wake();
    return answer;
  }

  #requireOpen(): void {
    if (this.#line.isClosed) throw this.#line.closedError();
  }

  #bucketStats(): BucketStats {
    const { capacity, queued, taken } = this.#meter.own;
    return {
      available: this.#meter.available(this.#clock.now()),
      capacity,
      queuedTokens: queued,
      grantedTokens: taken,
    };
  }

  #lineStats(): LineStats {
    const { queued, granted, aborted } = this.#line;
    const now = this.#clock.now();
    const pausedForMs = this.#meter.own.pausedForMs(now);
    return { queued, granted, aborted, waitedMs: this.#line.waitedMs(now), pausedForMs };
  }
}
