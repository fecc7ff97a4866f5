import { TokenBucket } from "limiter";

/** What a service allows each client of one thing: a sustained rate, and a burst on top. */
export interface QuotaRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A quota as a service keeps it, by a limiter that is not tidegate's. */
export class Quota {
  readonly #rate: QuotaRate;
  readonly #bucket: TokenBucket;
  #taken = 0;

  constructor(rate: QuotaRate) {
    this.#rate = rate;
    this.#bucket = new TokenBucket({
      bucketSize: rate.burst,
      tokensPerInterval: rate.perSecond,
      interval: "second",
    });
    this.#bucket.content = rate.burst; // this library starts empty; an API that nobody has called yet is full
  }

  has(count: number): boolean {
    return this.#bucket.getWaitTime(count) === 0;
  }

  take(count: number): void {
    this.#bucket.tryRemoveTokens(count);
    this.#taken += count;
  }

  /** What was taken as a share of what was allowed in so many seconds. */
  usedIn(seconds: number): number {
    return this.#taken / (this.#rate.burst + this.#rate.perSecond * seconds);
  }
}

/** Takes all that is asked, or nothing when one of the quotas has no room for it; whether it was taken. */
export function takeAll(...asked: readonly (readonly [Quota, number])[]): boolean {
  const fits = asked.every(([quota, count]) => quota.has(count));
  if (fits) for (const [quota, count] of asked) quota.take(count);
  return fits;
}
