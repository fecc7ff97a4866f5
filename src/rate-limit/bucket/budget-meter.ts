import type { LocalMeter } from "../line/meter.js";
import type { RatedBucket } from "./rated-bucket.js";

/** Tokens of each dimension of a budget; every dimension is there. */
export type Costs<D extends string> = Readonly<Record<D, number>>;

/**
 * Several buckets as one meter: a cost is taken from all of them or from none. A dimension in which a cost is 0 has no
 * say in it, also when it is in debt.
 */
export class BudgetMeter<D extends string> implements LocalMeter<Costs<D>> {
  readonly #buckets: readonly (readonly [dimension: D, bucket: RatedBucket])[];

  constructor(buckets: Readonly<Record<D, RatedBucket>>) {
    this.#buckets = Object.entries(buckets) as [D, RatedBucket][];
  }

  tryTake(costs: Costs<D>, now: number): boolean {
    for (const [dimension, bucket] of this.#buckets) {
      if (costs[dimension] > 0 && !bucket.fits(costs[dimension], now)) return false;
    }
    for (const [dimension, bucket] of this.#buckets) bucket.take(costs[dimension]);
    return true;
  }

  headWaitMs(head: Costs<D>, now: number): number {
    let waitMs = 0;
    for (const [dimension, bucket] of this.#buckets) {
      if (head[dimension] > 0) waitMs = Math.max(waitMs, bucket.headWaitMs(head[dimension], now));
    }
    // What a bucket gains while the head waits for another one is no tail of a late timer.
    if (waitMs > 0) for (const [, bucket] of this.#buckets) bucket.hold(now + waitMs, now);
    return waitMs;
  }

  estimateMs(costs: Costs<D>, now: number): number {
    let waitMs = 0;
    for (const [dimension, bucket] of this.#buckets) {
      const cost = costs[dimension];
      if (cost > 0 || bucket.queued > 0) waitMs = Math.max(waitMs, bucket.estimateMs(cost, now));
    }
    return waitMs;
  }

  holds(costs: Costs<D>): boolean {
    return this.#buckets.every(([dimension, bucket]) => bucket.holds(costs[dimension]));
  }

  join(costs: Costs<D>): void {
    for (const [dimension, bucket] of this.#buckets) bucket.join(costs[dimension]);
  }

  leave(costs: Costs<D>): void {
    for (const [dimension, bucket] of this.#buckets) bucket.leave(costs[dimension]);
  }

  lead(head: Costs<D> | undefined, now: number): void {
    for (const [dimension, bucket] of this.#buckets) bucket.lead(head?.[dimension], now);
  }

  /** Gives back what was taken above `needed`, up to the cap, and takes what was needed above it. */
  correct(taken: Costs<D>, needed: Costs<D>, now: number): void {
    for (const [dimension, bucket] of this.#buckets) {
      const surplus = taken[dimension] - needed[dimension];
      if (surplus > 0) bucket.refund(surplus, now);
      else if (surplus < 0) bucket.charge(-surplus, now);
    }
  }

  pause(ms: number, now: number): void {
    for (const [, bucket] of this.#buckets) bucket.pause(ms, now);
  }

  resume(now: number): void {
    for (const [, bucket] of this.#buckets) bucket.resume(now);
  }

  /** One pause holds all of them. */
  pausedForMs(now: number): number {
    return Math.max(...this.#buckets.map(([, bucket]) => bucket.pausedForMs(now)));
  }
}
