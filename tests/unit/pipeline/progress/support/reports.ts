import type { ProgressReport } from "../../../../../src/pipeline/progress/reporter.js";
import type { DimensionStats } from "../../../../../src/internal/limiter-report.js";
import type {
  CallCounts,
  FunctionStats,
  ProvidedLimiter,
} from "../../../../../src/pipeline/run/run-stats.js";

/** A function; what is not said is 0, and `started` and `percent` come of the rest. */
export function fnStats(name: string, counts: Partial<CallCounts> = {}): FunctionStats {
  const { done = 0, failed = 0, inFlight = 0, expected } = counts;
  const percent =
    expected === undefined ? undefined : expected === 0 ? 100 : ((done + failed) / expected) * 100;
  return { name, started: done + failed + inFlight, done, failed, inFlight, expected, percent, ...counts };
}

/** A limiter of 50/s with an empty bucket. */
export function limiter(
  key: string,
  facts: Partial<ProvidedLimiter> = {},
  ...dimensions: readonly Partial<DimensionStats>[]
): ProvidedLimiter {
  const full = (dimension: Partial<DimensionStats>): DimensionStats => ({
    name: undefined,
    maxRowsPerSecond: 50,
    available: 0,
    capacity: 50,
    queuedTokens: 0,
    grantedTokens: 0,
    ...dimension,
  });
  return {
    key,
    queued: 0,
    granted: 0,
    aborted: 0,
    waitedMs: 0,
    pausedForMs: 0,
    ...facts,
    dimensions: (dimensions.length === 0 ? [{}] : dimensions).map(full),
  };
}

/** A report of an app "crawl". */
export function reportOf(
  elapsedMs: number,
  functions: readonly FunctionStats[] = [],
  limiters: readonly ProvidedLimiter[] = [],
): ProgressReport {
  const sum = (count: "started" | "done" | "failed" | "inFlight"): number =>
    functions.reduce((all, f) => all + f[count], 0);
  const total = {
    started: sum("started"),
    done: sum("done"),
    failed: sum("failed"),
    inFlight: sum("inFlight"),
    expected: undefined,
    percent: undefined,
  };
  return { app: "crawl", elapsedMs, stats: { functions, total, limiters } };
}
