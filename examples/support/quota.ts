import { performance } from "node:perf_hooks";
import { TokenBucket } from "limiter";

/** What a service allows each client of one thing: a sustained rate, and a burst on top. */
export interface QuotaRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A quota as a service keeps it, by a limiter that is not tidegate's. */
export class Quota {
  readonly #bucket: TokenBucket;
  #rate: QuotaRate;
  #taken = 0;
  #firstAt: number | undefined;
  /** What the rate of now and the burst of now leave out of what was allowed. */
  #allowedBefore = 0;

  constructor(rate: QuotaRate) {
    this.#rate = rate;
    this.#bucket = new TokenBucket({
      bucketSize: rate.burst,
      tokensPerInterval: rate.perSecond,
      interval: "second",
    });
    this.#bucket.content = rate.burst; // this library starts empty; an API that nobody has called yet is full
  }

  get rate(): QuotaRate {
    return this.#rate;
  }

  /** What is there now. */
  get left(): number {
    this.#bucket.getWaitTime(0); // brings it up to now
    return this.#bucket.content;
  }

  has(count: number): boolean {
    return this.waitMs(count) === 0;
  }

  /** How long it takes until so many are there, if nobody takes any: 0 when they are. */
  waitMs(count: number): number {
    this.#firstAt ??= performance.now();
    return this.#bucket.getWaitTime(count);
  }

  take(count: number): void {
    this.#bucket.tryRemoveTokens(count);
    this.#taken += count;
  }

  /** Halves the rate and the burst, from now on. */
  halve(): void {
    const { perSecond, burst } = this.#rate;
    this.#bucket.getWaitTime(0); // what has come in so far came in at the old rate
    const now = performance.now();
    const seconds = (now - (this.#firstAt ?? now)) / 1000;
    this.#allowedBefore += burst / 2 + (perSecond / 2) * seconds;
    this.#rate = { perSecond: perSecond / 2, burst: burst / 2 };
    this.#bucket.tokensPerInterval = perSecond / 2;
    this.#bucket.bucketSize = burst / 2;
    this.#bucket.content = Math.min(this.#bucket.content, burst / 2);
  }

  /** What was taken as a share of what was allowed in so many seconds from the first request on. */
  usedIn(seconds: number): number {
    return this.#taken / (this.#allowedBefore + this.#rate.burst + this.#rate.perSecond * seconds);
  }
}

/** Takes all that is asked, or nothing when one of the quotas has no room for it; whether it was taken. */
export function takeAll(...asked: readonly (readonly [Quota, number])[]): boolean {
  const fits = asked.every(([quota, count]) => quota.has(count));
  if (fits) for (const [quota, count] of asked) quota.take(count);
  return fits;
}
