import type { BucketStats, DimensionStats, LineStats } from "../internal/limiter-report.js";
import { BudgetMeter, type Costs } from "./bucket/budget-meter.js";
import {
  type BucketOptions,
  makeBucket,
  type RatedBucket,
  type RateOptions,
  resolveRate,
} from "./bucket/rated-bucket.js";
import { Dimensions } from "./dimensions.js";
import type { AcquireOptions, Budget } from "./limiter.js";
import { LineLimiter } from "./line-limiter.js";
import { type LineOptions, resolveLineOptions } from "./line-options.js";
import { BudgetPermit, type Permit } from "./permit.js";

/** What a budget has done and how it stands, read at one moment. */
export interface RateBudgetStats<D extends string> extends LineStats {
  /** The buckets, by dimension. */
  readonly dimensions: Readonly<Record<D, BucketStats>>;
}

/**
 * Several rates that a call draws from together or not at all: requests and tokens a minute, or a fast and a slow rate
 * of one thing. One line over all of them: first in, first out, whichever dimension is short.
 *
 * @example
 * const budget = new RateBudget({
 *   requests: { maxRowsPerSecond: perMinute(500) },
 *   tokens: { maxRowsPerSecond: perMinute(30_000) },
 * });
 * const permit = await budget.acquire({ requests: 1, tokens: estimate(prompt) });
 * const answer = await complete(prompt);
 * permit.settle({ tokens: answer.usage.total_tokens });
 */
export class RateBudget<D extends string>
  extends LineLimiter<Costs<D>, Permit<D>, BudgetMeter<D>>
  implements Budget<D>
{
  readonly #dimensions: Dimensions<D>;
  readonly #buckets: Readonly<Record<D, RatedBucket>>;

  /**
   * @param dimensions - The rate of each dimension, by name; at least one.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) for an option that cannot be; it names the option.
   */
  constructor(dimensions: Readonly<Record<D, BucketOptions>>, options: LineOptions = {}) {
    const named = new Dimensions(dimensions);
    const settings = resolveLineOptions(options, "budget");
    const now = settings.clock.now();
    const buckets = named.record((name) => makeBucket(dimensions[name], now, name));
    super(settings, new BudgetMeter(buckets));
    this.#dimensions = named;
    this.#buckets = buckets;
  }

  /**
   * Waits until every dimension has what is asked of it, then takes it from all of them. Calls are served in the order
   * in which they were made, whichever dimension is short. A dimension that is not named costs nothing.
   *
   * Inside a run, a time limit or a fan-out, a waiting call is released when that ends; no signal is needed for it.
   *
   * @param costs - Tokens of each dimension, integers from 0 up. More than the capacity is served too. Nothing of any
   *   dimension is granted at once.
   * @returns The permit, to be settled, refunded or left alone.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when a dimension is unknown, or tokens or an option cannot be.
   * @throws LimiterClosedError (`LIMITER_CLOSED`) when the budget is closed, now or while the call waits.
   * @throws QueueFullError (`QUEUE_FULL`) when `maxQueue` callers wait already.
   * @throws WaitTooLongError (`WAIT_TOO_LONG`) when the wait does not fit in `maxWaitMs` or in the time limit around.
   * @throws The signal's `reason`, unchanged, when it aborts before the tokens were taken.
   */
  acquire(costs: Partial<Record<D, number | undefined>>, options?: AcquireOptions): Promise<Permit<D>> {
    try {
      return this.acquireCost(this.#dimensions.complete("costs", costs), options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Takes the costs now and returns a permit, or takes nothing and returns undefined: while anyone waits, and always for
   * more than a capacity. Nothing of any dimension is always granted.
   *
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when a dimension is unknown or tokens cannot be.
   * @throws LimiterClosedError (`LIMITER_CLOSED`) when the budget is closed.
   */
  tryAcquire(costs: Partial<Record<D, number | undefined>>): Permit<D> | undefined {
    const complete = this.#dimensions.complete("costs", costs);
    return this.tryAcquireCost(complete) ? this.receipt(complete) : undefined;
  }

  /**
   * How long a call made now would wait behind all others, in milliseconds: the longest of the waits that the
   * dimensions need each by itself, so a lower bound. 0 when it would be granted now, Infinity when the budget is closed.
   *
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when a dimension is unknown or tokens cannot be.
   */
  estimateWaitMs(costs: Partial<Record<D, number | undefined>>): number {
    return this.estimateCostMs(this.#dimensions.complete("costs", costs));
  }

  /**
   * Changes the rates of the dimensions that are named, for the callers in line too. Levels are kept in tokens, debt
   * included, up to the new capacity. A change that throws changes nothing.
   *
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when a dimension is unknown or an option cannot be.
   */
  setRate(rates: Partial<Record<D, Partial<RateOptions> | undefined>>): void {
    const changes = this.#dimensions.entries("rates", rates).map(([name, options]) => {
      const bucket = this.#buckets[name];
      return { bucket, rate: resolveRate(options, bucket.rate, name) };
    });
    this.change((_, now) => {
      for (const { bucket, rate } of changes) bucket.changeRate(rate, now);
    });
  }

  /** What the budget has done and how it stands, read at one moment. */
  stats(): RateBudgetStats<D> {
    const { now } = this;
    const dimensions = this.#dimensions.record((name) => this.#buckets[name].stats(now));
    return { dimensions, ...this.lineStats() };
  }

  protected override receipt(costs: Costs<D>): Permit<D> {
    return new BudgetPermit(this.name, this.#dimensions, costs, (taken, needed) => {
      this.change((meter, now) => {
        meter.correct(taken, needed, now);
      });
    });
  }

  protected dimensionStats(): readonly DimensionStats[] {
    return this.#dimensions.names.map((name) => this.#buckets[name].dimensionStats(this.now, name));
  }

  protected isFree(costs: Costs<D>): boolean {
    return this.#dimensions.names.every((name) => costs[name] === 0);
  }
}

/** A budget, local or shared, whatever its dimensions are. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a budget of any dimensions
export type AnyBudget = Budget<any>;

/** What a call costs at a limiter: a number of tokens; at a budget: tokens of the dimensions that are named. */
export type CostAt<L> = L extends Budget<infer D> ? Partial<Record<D, number | undefined>> : number;
