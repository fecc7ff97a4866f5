import type { Meter } from "../../src/rate-limit/line/meter.js";
import { TokenBucket } from "../../src/rate-limit/bucket/token-bucket.js";
import { ExactBucket, type Shape } from "./rate-limit-exact-bucket.js";
import { most, Rational } from "./rate-limit-rational.js";

/** What a call to a model costs: both at once, either may be 0. */
export interface PairCost {
  readonly requests: number;
  readonly tokens: number;
}

export interface PairShape {
  readonly requests: Shape;
  readonly tokens: Shape;
}

/** Two buckets as one meter: a cost is taken from both, or from none. */
export class PairMeter implements Meter<PairCost> {
  readonly requests: TokenBucket;
  readonly tokens: TokenBucket;

  constructor(shape: PairShape, now: number) {
    this.requests = new TokenBucket(shape.requests, shape.requests.capacity, now);
    this.tokens = new TokenBucket(shape.tokens, shape.tokens.capacity, now);
  }

  tryTake({ requests, tokens }: PairCost, now: number): boolean {
    if (this.headWaitMs({ requests, tokens }, now) > 0) return false;
    // A wait of 0 says that it fits. If the two ever disagreed, a cost would be taken by halves.
    if (this.requests.tryTake(requests, now) && this.tokens.tryTake(tokens, now)) return true;
    throw new Error("A bucket had no wait for a cost and did not give it.");
  }

  headWaitMs({ requests, tokens }: PairCost, now: number): number {
    const waitMs = Math.max(this.requests.headWaitMs(requests, now), this.tokens.headWaitMs(tokens, now));
    if (waitMs > 0) {
      this.requests.hold(now + waitMs, now);
      this.tokens.hold(now + waitMs, now);
    }
    return waitMs;
  }

  estimateMs({ requests, tokens }: PairCost, now: number): number {
    return Math.max(this.requests.estimateMs(requests, now), this.tokens.estimateMs(tokens, now));
  }

  join({ requests, tokens }: PairCost): void {
    this.requests.join(requests);
    this.tokens.join(tokens);
  }

  leave({ requests, tokens }: PairCost): void {
    this.requests.leave(requests);
    this.tokens.leave(tokens);
  }

  lead(head: PairCost | undefined, now: number): void {
    this.requests.lead(head?.requests, now);
    this.tokens.lead(head?.tokens, now);
  }
}

export interface PairCall extends PairCost {
  /** Milliseconds after the call before. */
  readonly gapMs: number;
}

/** When each of these calls is granted by exact timers, in milliseconds. Nobody leaves. */
export function exactPairPlaces(shape: PairShape, calls: readonly PairCall[]): number[] {
  const [requests, tokens] = [shape.requests, shape.tokens].map(
    // Exact timers are never late, so there is nothing to make up for.
    (one) => new ExactBucket(one, one.capacity, Rational.ZERO, Rational.ZERO),
  ) as [ExactBucket, ExactBucket];
  const lead = (head: PairCost | undefined, now: Rational): void => {
    requests.lead(head?.requests, now, false);
    tokens.lead(head?.tokens, now, false);
  };
  let now = Rational.ZERO;
  let arrival = 0;
  return calls.map((cost) => {
    arrival += cost.gapMs;
    const arrived = Rational.of(arrival);
    // The line is empty between the grant before and this arrival, if there is any time between them.
    if (now.isBelow(arrived)) lead(undefined, now);
    now = most(now, arrived);
    if (!requests.fits(cost.requests, now) || !tokens.fits(cost.tokens, now)) {
      lead(cost, now);
      now = most(requests.dueAt(cost.requests, now), tokens.dueAt(cost.tokens, now));
    }
    requests.take(cost.requests, now);
    tokens.take(cost.tokens, now);
    return now.toNumber();
  });
}
