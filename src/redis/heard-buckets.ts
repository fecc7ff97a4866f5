import type { RatedBucket } from "../rate-limit/bucket/rated-bucket.js";
import type { Amounts, Answer } from "./store.js";

/** What was last heard of the buckets of the store, and so what is in them now, if nobody else takes anything. */
export class HeardBuckets {
  /** Which buckets these are; another server, or one that has lost them, has others. */
  epoch = "";
  readonly #buckets: readonly RatedBucket[];
  #levels: Amounts;
  #heardAt: number;

  /** @param buckets - Those of this process: they get the rates that are heard of. */
  constructor(buckets: readonly RatedBucket[], now: number) {
    this.#buckets = buckets;
    this.#levels = buckets.map(({ capacity }) => capacity);
    this.#heardAt = now;
  }

  /** Tokens a second, of each dimension. */
  get rates(): Amounts {
    return this.#buckets.map(({ rate }) => rate.maxRowsPerSecond);
  }

  /** Takes in an answer that comes at `now`; whether it tells of other buckets than the one before. */
  learn({ epoch, buckets }: Answer, now: number): boolean {
    for (const [d, bucket] of this.#buckets.entries()) {
      const rate = buckets[d]?.rate ?? bucket.rate;
      const { maxRowsPerSecond, burstWindowSecs } = bucket.rate;
      if (rate.maxRowsPerSecond !== maxRowsPerSecond || rate.burstWindowSecs !== burstWindowSecs)
        bucket.changeRate(rate, now);
    }
    this.#levels = buckets.map(({ level }) => level);
    this.#heardAt = now;
    const isOther = epoch !== this.epoch;
    this.epoch = epoch;
    return isOther;
  }

  available(d: number, now: number): number {
    const { capacity, rate } = this.#buckets[d] as RatedBucket;
    const gained = ((now - this.#heardAt) * rate.maxRowsPerSecond) / 1000;
    return Math.min(capacity, (this.#levels[d] ?? NaN) + gained);
  }

  /** Tokens of each dimension that come in `ms` from now, and those that are there. */
  within(ms: number, now: number): Amounts {
    return this.#buckets.map(
      ({ rate }, d) => Math.max(0, this.available(d, now)) + (ms * rate.maxRowsPerSecond) / 1000,
    );
  }
}
