import { shapeOf } from "./rate-limit-exact-bucket.js";
import type { Filled } from "./rate-limit-exact-meter.js";

/** The rate of one dimension. */
export interface Rated {
  readonly rate: number;
  readonly burst: number;
  /** Part of the capacity that is there at the start. */
  readonly filled: number;
}

/** Of a limiter. */
export interface Setting extends Rated {
  readonly maxQueue: number;
}

/** Of a limiter, which has one dimension, or a budget. */
export interface LineSetting {
  readonly dimensions: readonly Rated[];
  readonly maxQueue: number;
}

/** Tokens in a bucket at the start. */
export function tokensIn({ rate, burst, filled }: Rated): number {
  return shapeOf(rate, burst).capacity * filled;
}

/** The bucket of each dimension at the start. */
export function bucketsOf(dimensions: readonly Rated[]): Filled[] {
  return dimensions.map((one) => ({ ...shapeOf(one.rate, one.burst), initialTokens: tokensIn(one) }));
}
