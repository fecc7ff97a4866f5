/// <reference lib="esnext.disposable" preserve="true" />
import type { Clock } from "../clock.js";
import { requireFinite } from "../internal/checks.js";
import { limiterObserver } from "../internal/limiter-observer.js";
import type { BucketStats, DimensionStats, LimiterReport, LineStats } from "../internal/limiter-report.js";
import type { RatedBucket } from "../rate-limit/bucket/rated-bucket.js";
import { type AcquireOptions, checkAcquireOptions } from "../rate-limit/limiter.js";
import type { LocalMeter } from "../rate-limit/line/meter.js";
import { WaitingLine } from "../rate-limit/line/waiting-line.js";
import { type AcquireOfStore, acquireBy, type Fallback } from "./acquire-by.js";
import type { RedisSettings } from "./options.js";
import { Outage } from "./outage.js";
import { RedisMeter } from "./redis-meter.js";
import { type Amounts, type Answer, type Command, Store } from "./store.js";

/** What a limiter of the store is made of. */
interface RedisPlan<C, R> {
  readonly settings: RedisSettings<object>;
  /** The key in the store. */
  readonly key: string;
  readonly own: LocalMeter<C>;
  /** One for each dimension, in the order of the amounts. */
  readonly buckets: readonly RatedBucket[];
  readonly amountsOf: (cost: C) => Amounts;
  readonly fallback: Fallback<C, R> | undefined;
}

/**
 * What the limiters have in common whose buckets lie in a store: a waiting line of this process before them. `C` is what a
 * call asks for, `R` what it gets with its tokens.
 */
export abstract class RedisLineLimiter<C, R> implements Disposable {
  /** What the processes share, also for errors and metrics. */
  readonly name: string;
  readonly #clock: Clock;
  readonly #line: WaitingLine<C, R>;
  readonly #meter: RedisMeter<C>;
  readonly #store: Store;
  readonly #own: LocalMeter<C>;
  readonly #amountsOf: (cost: C) => Amounts;
  readonly #acquire: AcquireOfStore<C, R>;
  protected readonly buckets: readonly RatedBucket[];

  protected constructor({ settings, key, own, buckets, amountsOf, fallback }: RedisPlan<C, R>) {
    const { line, send, clock, timeoutMs, onStoreError } = settings;
    this.name = line.name;
    this.#clock = clock;
    this.#own = own;
    this.#amountsOf = amountsOf;
    this.buckets = buckets;
    const outage = new Outage(timeoutMs);
    const rates = buckets.map(({ rate }) => rate);
    this.#store = new Store({ name: line.name, key, send, clock, timeoutMs, rates });
    const isImpatient = onStoreError !== "wait";
    const meter = { store: this.#store, outage, clock, own, buckets, amountsOf, isImpatient };
    this.#meter = new RedisMeter(meter);
    this.#line = new WaitingLine({ ...line, meter: this.#meter, receipt: this.receipt?.bind(this) });
    const probe = this.#meter.probe.bind(this.#meter);
    this.#acquire = acquireBy({ line: this.#line, outage, isImpatient, fallback, probe });
  }

  /**
   * Grants nothing for `ms` from now; of two pauses the one that ends later holds. It holds here when the promise
   * resolves, and in another process from the next time that it asks the store: within what it has set aside already,
   * about 75 ms of the rate, or a second for a call that waits longer. When it ends a bucket holds at most one token.
   *
   * @param ms - Milliseconds, finite, from 0 up.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `ms` cannot be.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach: it may have come to it or not.
   */
  async pause(ms: number): Promise<void> {
    const { pausedForMs } = await this.tell("pause", [requireFinite("ms", ms, 0, "milliseconds")]);
    limiterObserver()?.paused({ limiter: this.name, ms: pausedForMs });
  }

  /**
   * Ends a pause now, for all processes within a second. Does nothing when none holds.
   *
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach: it may have come to it or not.
   */
  async resume(): Promise<void> {
    await this.tell("resume", []);
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

  /** Closes it, as {@link close} without a reason. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** Makes what a call gets with its tokens. A limiter without it hands out tokens alone. */
  protected receipt?(cost: C): R;

  /** Whether a cost is nothing at all: such a call spends nothing and waits for nobody. */
  protected abstract isFree(cost: C): boolean;

  protected acquireCost(cost: C, options: AcquireOptions | undefined): Promise<R> {
    if (options !== undefined) checkAcquireOptions(options);
    return this.#acquire(cost, options, this.isFree(cost));
  }

  /** Whether the cost was taken. */
  protected async tryAcquireCost(cost: C): Promise<boolean> {
    this.#requireOpen();
    if (this.isFree(cost)) return true;
    if (this.#line.queued > 0) return false;
    const amounts = this.#amountsOf(cost);
    const giveBack = ({ epoch, taken }: Answer): void => {
      if (taken !== undefined) this.#meter.giveBack(epoch, [taken, ...amounts]);
    };
    const answer = await this.tell("take", amounts, giveBack);
    if (answer.taken === undefined) return false;
    // More than this process may have by itself: answers that were late differently, or a store that has lost its state.
    if (!this.#own.tryTake(cost, this.#clock.now())) {
      giveBack(answer);
      return false;
    }
    this.#line.noteGranted(cost);
    return true;
  }

  /** Gives back what is above 0 and takes what is below, whether it is there or not. */
  protected async correct(amounts: Amounts): Promise<void> {
    const surplus = amounts.map((tokens) => Math.max(0, tokens));
    const deficit = amounts.map((tokens) => Math.max(0, -tokens));
    const calls: Promise<unknown>[] = [];
    if (deficit.some((tokens) => tokens > 0)) calls.push(this.tell("charge", deficit));
    if (surplus.some((tokens) => tokens > 0)) {
      const refunded = this.tell("refund", surplus).then(() => {
        for (const [d, bucket] of this.buckets.entries()) bucket.refund(surplus[d] ?? NaN, this.#clock.now());
        this.#line.wake();
      });
      calls.push(refunded);
    }
    await Promise.all(calls);
  }

  /** Does what is not to wait in line. */
  protected async tell(
    command: Command,
    args: readonly (string | number)[],
    onLate?: (answer: Answer) => void,
  ): Promise<Answer> {
    this.#requireOpen();
    const answer = await this.#store.call(command, args, (late) => {
      if (late !== undefined) onLate?.(late);
    });
    this.#meter.learn(answer, command !== "look");
    this.#line.wake();
    return answer;
  }

  /** Hears how the buckets stand; what was heard last when the limiter is closed. */
  protected async look(): Promise<void> {
    if (!this.#line.isClosed) await this.tell("look", [""]);
  }

  protected bucketStats(d: number): BucketStats {
    const { capacity, queued, taken } = this.buckets[d] as RatedBucket;
    const available = this.#meter.available(d, this.#clock.now());
    return { available, capacity, queuedTokens: queued, grantedTokens: taken };
  }

  protected lineStats(): LineStats {
    const { queued, granted, aborted } = this.#line;
    const now = this.#clock.now();
    const pausedForMs = this.#own.pausedForMs(now);
    return { queued, granted, aborted, waitedMs: this.#line.waitedMs(now), pausedForMs };
  }

  /** The name of dimension `d`; undefined where there is but one. */
  protected abstract dimensionName(d: number): string | undefined;

  /**
   * For who finds a limiter among provided values: the buckets as they were last heard of.
   *
   * @internal
   */
  limiterReport(): LimiterReport {
    const dimensions = this.buckets.map(({ rate }, d): DimensionStats => ({
      name: this.dimensionName(d),
      maxRowsPerSecond: rate.maxRowsPerSecond,
      ...this.bucketStats(d),
    }));
    return { ...this.lineStats(), dimensions };
  }

  #requireOpen(): void {
    if (this.#line.isClosed) throw this.#line.closedError();
  }
}
