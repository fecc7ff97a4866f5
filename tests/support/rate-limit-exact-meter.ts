import { ExactBucket, type Shape } from "./rate-limit-exact-bucket.js";
import { least, most, Rational } from "./rate-limit-rational.js";

/** Tokens of each dimension, in the order of the dimensions. A limiter has one. */
export type Costs = readonly number[];

/** One bucket at the start. */
export interface Filled extends Shape {
  readonly initialTokens: number;
}

/**
 * Exact buckets that a cost is taken from all together or not at all. A bucket of which a cost asks nothing has no say.
 */
export class ExactMeter {
  readonly buckets: readonly ExactBucket[];
  #head: Costs | undefined = undefined;
  #since: Rational;
  readonly #isBudget: boolean;

  /** @param isBudget - Nothing stands above a cap before the whole head fits: only then can a timer be late for it. */
  constructor(buckets: readonly ExactBucket[], isBudget: boolean, now: Rational) {
    this.buckets = buckets;
    this.#isBudget = isBudget;
    this.#since = now;
  }

  static of(buckets: readonly Filled[], isBudget: boolean, now: Rational): ExactMeter {
    return new ExactMeter(
      buckets.map((bucket) => new ExactBucket(bucket, bucket.initialTokens, now)),
      isBudget,
      now,
    );
  }

  clone(): ExactMeter {
    const buckets = this.buckets.map((bucket) => bucket.clone());
    const copy = new ExactMeter(buckets, this.#isBudget, this.#since);
    copy.#head = this.#head;
    return copy;
  }

  /** The levels at `now`. Time never goes back. */
  levelsAt(now: Rational): Rational[] {
    if (this.#isBudget && this.#head !== undefined) this.#hold(this.#head, now);
    this.#since = now;
    return this.buckets.map((bucket) => bucket.levelAt(now));
  }

  fits(costs: Costs, now: Rational): boolean {
    this.levelsAt(now);
    return this.#fits(costs, now);
  }

  take(costs: Costs, now: Rational): void {
    this.#each(now, (bucket, index) => {
      bucket.take(costs[index] ?? NaN, now);
    });
    // Until the next one leads, nobody waits for what is missing now.
    this.#head = undefined;
  }

  /** When all of `costs` are there, if nobody takes any before; not before `now`. */
  dueAt(costs: Costs, now: Rational): Rational {
    this.levelsAt(now);
    return this.#dueAt(costs, now);
  }

  /** @param early - The head before has left without its tokens. */
  lead(head: Costs | undefined, now: Rational, early: boolean): void {
    this.#each(now, (bucket, index) => {
      bucket.lead(head?.[index], now, early);
    });
    this.#head = head;
  }

  /** Gives back what is above 0 and takes what is below, whether it is there or not. */
  correct(surplus: Costs, now: Rational): void {
    this.#each(now, (bucket, index) => {
      const tokens = surplus[index] ?? NaN;
      if (tokens > 0) bucket.refund(tokens, now);
      else bucket.take(-tokens, now);
    });
  }

  pause(until: Rational, now: Rational): void {
    this.#each(now, (bucket) => {
      bucket.pause(until, now);
    });
  }

  resume(now: Rational): void {
    this.#each(now, (bucket) => {
      bucket.resume(now);
    });
  }

  /** When the pause ends, which holds all of them; undefined when none does. */
  pauseEnd(now: Rational): Rational | undefined {
    const [bucket] = this.buckets;
    return bucket?.isPaused(now) === true ? bucket.pausedUntil : undefined;
  }

  /** Gives a new shape to each bucket that has one here. */
  reshape(shapes: readonly (Shape | undefined)[], now: Rational): void {
    this.#each(now, (bucket, index) => {
      const shape = shapes[index];
      if (shape !== undefined) bucket.reshape(shape, now);
    });
  }

  /** The first moment at which some bucket has one more whole token. */
  nextToken(now: Rational): Rational {
    return this.levelsAt(now)
      .map((level, index) => {
        const bucket = this.buckets[index] as ExactBucket;
        return bucket.dueAt(Math.floor(level.toNumber()) + 1, now);
      })
      .reduce(least);
  }

  #each(now: Rational, change: (bucket: ExactBucket, index: number) => void): void {
    this.levelsAt(now);
    this.buckets.forEach(change);
  }

  #fits(costs: Costs, now: Rational): boolean {
    return this.buckets.every((bucket, index) => costs[index] === 0 || bucket.fits(costs[index] ?? NaN, now));
  }

  #dueAt(costs: Costs, now: Rational): Rational {
    return this.buckets.reduce(
      (latest, bucket, index) =>
        costs[index] === 0 ? latest : most(latest, bucket.dueAt(costs[index] ?? NaN, now)),
      now,
    );
  }

  #hold(head: Costs, now: Rational): void {
    if (this.#fits(head, this.#since)) return;
    const due = this.#dueAt(head, this.#since);
    for (const bucket of this.buckets) bucket.holdTo(least(due, now));
  }
}
