import type { BucketStats, LineStats } from "../internal/limiter-report.js";
import { BudgetMeter, type Costs } from "../rate-limit/bucket/budget-meter.js";
import { makeBucket, type RateOptions } from "../rate-limit/bucket/rated-bucket.js";
import { Dimensions } from "../rate-limit/dimensions.js";
import type { AcquireOptions, Budget } from "../rate-limit/limiter.js";
import { BudgetPermit } from "../rate-limit/permit.js";
import { type RedisRateBudgetOptions, resolveChange, resolveOptions, resolveSharedRate } from "./options.js";
import { RedisLineLimiter } from "./redis-line-limiter.js";
import { SharedPermit } from "./shared-permit.js";

/** What the line of this process has done, and how the buckets of all stand, read at one moment. */
export interface RedisRateBudgetStats<D extends string> extends LineStats {
  /** The buckets, by dimension. */
  readonly dimensions: Readonly<Record<D, BucketStats>>;
}

/**
 * Several rates that a call draws from together or not at all, shared by all processes that use the name and the same
 * dimensions, on Redis or Valkey. A call that waits holds back those that came after it, whichever dimension is short,
 * as in a `RateBudget`; processes take turns. The bound is that of a RedisRateLimiter, for each dimension.
 *
 * @example
 * const budget = new RedisRateBudget(
 *   { requests: { maxRowsPerSecond: perMinute(500) }, tokens: { maxRowsPerSecond: perMinute(30_000) } },
 *   { client, name: "model" },
 * );
 * const permit = await budget.acquire({ requests: 1, tokens: estimate(prompt) });
 */
export class RedisRateBudget<D extends string>
  extends RedisLineLimiter<Costs<D>, SharedPermit<D>>
  implements Budget<D>
{
  readonly #dimensions: Dimensions<D>;
  /** The dimensions in the order of the amounts: that of their names, for processes may write them down in others. */
  readonly #names: readonly D[];

  /**
   * @param dimensions - The rate of each dimension, by name; at least one. Give all processes the same.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) for an option that cannot be; it names the option.
   */
  constructor(dimensions: Readonly<Record<D, RateOptions>>, options: RedisRateBudgetOptions<D>) {
    const settings = resolveOptions(options);
    const { line, clock, onStoreError } = settings;
    const named = new Dimensions(dimensions);
    const now = clock.now();
    const buckets = named.record((name) => makeBucket(resolveSharedRate(dimensions[name], name), now, name));
    const names = [...named.names].sort();
    super({
      settings,
      key: `tidegate:{${line.name}}:${names.map(encodeURIComponent).join(":")}`,
      own: new BudgetMeter(buckets),
      buckets: names.map((name) => buckets[name]),
      amountsOf: (costs) => names.map((name) => costs[name]),
      fallback:
        typeof onStoreError === "string"
          ? undefined
          : { acquire: async (costs, rest) => new SharedPermit(await onStoreError.acquire(costs, rest)) },
    });
    this.#dimensions = named;
    this.#names = names;
  }

  /**
   * Waits until every dimension has what is asked of it, then takes it from all of them. Calls of this process are served
   * in the order in which they were made. A dimension that is not named costs nothing.
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
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach and `onStoreError` is "throw".
   * @throws The signal's `reason`, unchanged, when it aborts before the tokens were taken.
   */
  acquire(costs: Partial<Record<D, number | undefined>>, options?: AcquireOptions): Promise<SharedPermit<D>> {
    try {
      return this.acquireCost(this.#dimensions.complete("costs", costs), options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Takes the costs now and gives a permit, or takes nothing and gives undefined: while anyone waits, in this process or
   * another one, and always for more than a capacity. Nothing of any dimension is always granted.
   *
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when a dimension is unknown or tokens cannot be.
   * @throws LimiterClosedError (`LIMITER_CLOSED`) when the budget is closed.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach, whatever `onStoreError` says.
   */
  async tryAcquire(costs: Partial<Record<D, number | undefined>>): Promise<SharedPermit<D> | undefined> {
    const complete = this.#dimensions.complete("costs", costs);
    return (await this.tryAcquireCost(complete)) ? this.receipt(complete) : undefined;
  }

  /**
   * Changes the rates of the dimensions that are named, for all processes, until they are changed again: they are kept in
   * the store without an end, and go before what budgets are made with. Levels are kept in tokens, debt included, up to
   * the new capacity.
   *
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when a dimension is unknown or an option cannot be.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach: it may have come to it or not.
   */
  async setRate(rates: Partial<Record<D, Partial<RateOptions> | undefined>>): Promise<void> {
    const given = new Map(this.#dimensions.entries("rates", rates));
    const changes = this.#names.map((name) => resolveChange(given.get(name) ?? {}, name));
    await this.tell("rate", changes.flat());
  }

  /**
   * How the buckets stand, and what the line of this process has done.
   *
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach.
   */
  async stats(): Promise<RedisRateBudgetStats<D>> {
    await this.look();
    const dimensions = this.#dimensions.record((name) => this.bucketStats(this.#names.indexOf(name)));
    return { dimensions, ...this.lineStats() };
  }

  protected override receipt(costs: Costs<D>): SharedPermit<D> {
    const correct = (taken: Costs<D>, needed: Costs<D>): Promise<void> =>
      this.correct(this.#names.map((name) => taken[name] - needed[name]));
    return new SharedPermit(new BudgetPermit(this.name, this.#dimensions, costs, correct));
  }

  protected isFree(costs: Costs<D>): boolean {
    return this.#dimensions.names.every((name) => costs[name] === 0);
  }

  protected dimensionName(d: number): string | undefined {
    return this.#names[d];
  }
}
