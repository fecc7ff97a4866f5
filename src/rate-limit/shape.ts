import { requireFinite, requireRate } from "../internal/checks.js";
import type { BucketShape } from "./token-bucket.js";

/** The rate and the burst of one budget. */
export interface RateOptions {
  /** Tokens gained a second, evenly: above 0, or Infinity for no limit. 0.5 is one token every 2 s. */
  readonly maxRowsPerSecond: number;
  /**
   * How many seconds of the rate may be stored while nobody asks, so the largest burst is
   * `max(1, maxRowsPerSecond * burstWindowSecs)` tokens. Finite, from 0 up; 0 is strict spacing. Default 1.
   */
  readonly burstWindowSecs?: number | undefined;
}

/** The rate options, checked. */
export interface RateSettings {
  readonly maxRowsPerSecond: number;
  readonly burstWindowSecs: number;
}

/** Checks rate options; what is left out is taken from `defaults`. */
export function resolveRate(
  options: Partial<RateOptions>,
  defaults: Partial<RateSettings> = { burstWindowSecs: 1 },
): RateSettings {
  const { maxRowsPerSecond = defaults.maxRowsPerSecond, burstWindowSecs = defaults.burstWindowSecs } =
    options;
  return {
    maxRowsPerSecond: requireRate("maxRowsPerSecond", maxRowsPerSecond),
    burstWindowSecs: requireFinite("burstWindowSecs", burstWindowSecs, 0, "seconds"),
  };
}

export function shapeOf({ maxRowsPerSecond, burstWindowSecs }: RateSettings): BucketShape {
  const stored = maxRowsPerSecond === Infinity ? Infinity : maxRowsPerSecond * burstWindowSecs;
  return { rate: maxRowsPerSecond, capacity: Math.max(1, stored) };
}
