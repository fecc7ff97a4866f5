/** What every limiter says of its line. */
export interface LineStats {
  /** Callers that wait now. */
  readonly queued: number;
  /** Calls granted so far, `tryAcquire` included; a call for nothing is not counted. */
  readonly granted: number;
  /** Callers that left the line without tokens. */
  readonly aborted: number;
  /** The time that all callers together have waited, in milliseconds, those in line included. */
  readonly waitedMs: number;
  /** Milliseconds until the pause ends; 0 when none holds. */
  readonly pausedForMs: number;
}

/** How one bucket stands. */
export interface BucketStats {
  /** Tokens in the bucket now: may be fractional; negative is debt. */
  readonly available: number;
  /** Most tokens that the bucket holds while nobody waits. */
  readonly capacity: number;
  /** Tokens that the callers in line wait for. */
  readonly queuedTokens: number;
  /** Tokens granted so far, before refunds. */
  readonly grantedTokens: number;
}

/** How one bucket of a limiter stands, and what it gains. */
export interface DimensionStats extends BucketStats {
  /** Its name in a budget; undefined of a limiter, which has one bucket. */
  readonly name: string | undefined;
  /** Tokens gained a second: above 0, or Infinity for no limit. */
  readonly maxRowsPerSecond: number;
}

/** How a limiter stands, whatever it is made of. */
export interface LimiterReport extends LineStats {
  /** One of a limiter; of a budget one for each dimension. */
  readonly dimensions: readonly DimensionStats[];
}

/**
 * What a limiter of this library is known by, also one of another copy of the package. The name is a plain one: a
 * bundler keeps a class that has a computed name for good.
 */
interface ReportingLimiter {
  limiterReport(): LimiterReport;
}

/** The report of `value`, which may be anything; undefined when it is no limiter of this library. Cannot throw. */
export function limiterReport(value: unknown): LimiterReport | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    const report = (value as Partial<ReportingLimiter>).limiterReport?.();
    return Array.isArray(report?.dimensions) ? report : undefined;
  } catch {
    return undefined; // a proxy that is revoked or throws, or something else of that name
  }
}
