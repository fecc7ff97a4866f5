import { InvalidArgumentError } from "../../errors.js";
import { requireFinite, requireObject, requireRate } from "../../internal/checks.js";
import type { BucketStats, DimensionStats } from "../../internal/limiter-report.js";
import { type BucketShape, TokenBucket } from "./token-bucket.js";

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

/** What one bucket is made of. */
export interface BucketOptions extends RateOptions {
  /** Tokens in the bucket at the start: from 0 to its capacity, may be fractional. Default: full. */
  readonly initialTokens?: number | undefined;
}

/** The rate options, checked and complete. */
export interface RateSettings {
  readonly maxRowsPerSecond: number;
  readonly burstWindowSecs: number;
}

/** A bucket that knows its rate in the terms of its options. */
export class RatedBucket extends TokenBucket {
  rate: RateSettings;

  constructor(rate: RateSettings, tokens: number, now: number) {
    super(shapeOf(rate), tokens, now);
    this.rate = rate;
  }

  changeRate(rate: RateSettings, now: number): void {
    this.reshape(shapeOf(rate), now);
    this.rate = rate;
  }

  stats(now: number): BucketStats {
    const { capacity, queued, taken } = this;
    return { available: this.available(now), capacity, queuedTokens: queued, grantedTokens: taken };
  }

  /** @param name - Its name in a budget. */
  dimensionStats(now: number, name?: string): DimensionStats {
    return { name, maxRowsPerSecond: this.rate.maxRowsPerSecond, ...this.stats(now) };
  }
}

const DEFAULTS = { maxRowsPerSecond: undefined, burstWindowSecs: 1 };

/**
 * Makes a bucket.
 *
 * @param dimension - Whose options these are in a budget, for errors.
 */
export function makeBucket(options: BucketOptions, now: number, dimension?: string): RatedBucket {
  const rate = resolveRate(options, DEFAULTS, dimension);
  return new RatedBucket(rate, tokensAtStart(options, shapeOf(rate).capacity, dimension), now);
}

/** Checks rate options; what is left out is taken from `defaults`. */
export function resolveRate(
  options: Partial<RateOptions>,
  defaults: { readonly [option in keyof RateSettings]: number | undefined } = DEFAULTS,
  dimension?: string,
): RateSettings {
  const { maxRowsPerSecond = defaults.maxRowsPerSecond, burstWindowSecs = defaults.burstWindowSecs } =
    requireObject(dimension ?? "options", options);
  return {
    maxRowsPerSecond: requireRate(pathOf("maxRowsPerSecond", dimension), maxRowsPerSecond),
    burstWindowSecs: requireFinite(pathOf("burstWindowSecs", dimension), burstWindowSecs, 0, "seconds"),
  };
}

function shapeOf({ maxRowsPerSecond, burstWindowSecs }: RateSettings): BucketShape {
  const stored = maxRowsPerSecond === Infinity ? Infinity : maxRowsPerSecond * burstWindowSecs;
  return { rate: maxRowsPerSecond, capacity: Math.max(1, stored) };
}

function tokensAtStart({ initialTokens }: BucketOptions, capacity: number, dimension?: string): number {
  if (initialTokens === undefined) return capacity;
  if (typeof initialTokens === "number" && initialTokens >= 0 && initialTokens <= capacity)
    return initialTokens;
  throw new InvalidArgumentError(
    pathOf("initialTokens", dimension),
    `a number from 0 to the capacity, ${String(capacity)}`,
    initialTokens,
  );
}

function pathOf(option: string, dimension: string | undefined): string {
  return dimension === undefined ? option : `${dimension}.${option}`;
}
