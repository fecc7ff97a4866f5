import type { Settings } from "./settings.js";

/** One rate, and what each request takes of it. */
export interface Dimension {
  /** Tokens a second. */
  readonly rate: number;
  /** Seconds of the rate that the bucket holds. */
  readonly burst: number;
  /** Most tokens that the bucket holds while nobody waits. */
  readonly capacity: number;
  /** Tokens of each request. */
  readonly tokens: number;
}

export type Dimensions = readonly [Dimension, ...Dimension[]];

export function dimensionsOf(settings: Settings): Dimensions {
  const first = dimensionOf(settings.rate, settings.burst, settings.tokens);
  if (!settings.second) return [first];
  return [first, dimensionOf(settings.rate2, settings.burst2, settings.tokens2)];
}

function dimensionOf(rate: number, burst: number, tokens: number): Dimension {
  return { rate, burst, tokens, capacity: Math.max(1, rate * burst) };
}

/** Most tokens of a dimension that may have been granted `ms` after the start: the bound that the limiter promises. */
export function boundAt({ rate, capacity, tokens }: Dimension, ms: number): number {
  return Math.max(capacity, tokens) + (rate * ms) / 1000;
}
