import type { DimensionStats } from "../../internal/limiter-report.js";
import type { FunctionStats, ProvidedLimiter } from "../run/run-stats.js";
import { endedCalls } from "./speeds.js";

/** What a limiter holds a run up by. */
export interface Outlook {
  /** The rate that is short for the longest time. */
  readonly dimension: DimensionStats;
  /** Milliseconds until it will have granted what the run still needs; undefined where that cannot be known. */
  readonly leftMs: number | undefined;
}

/** The function with most calls to come, which is what the others wait for. */
export function mostLeft(functions: readonly FunctionStats[]): FunctionStats | undefined {
  let most: FunctionStats | undefined;
  for (const f of functions) if (callsLeft(f) > (most === undefined ? 0 : callsLeft(most))) most = f;
  return most;
}

function callsLeft(f: FunctionStats): number {
  const left = (f.expected ?? 0) - endedCalls(f);
  return Number.isFinite(left) ? left : 0;
}

/**
 * How a limiter looks to a run whose function with most calls to come is `work`.
 *
 * @returns Undefined for one that limits nothing.
 */
export function outlookOf(limiter: ProvidedLimiter, work: FunctionStats | undefined): Outlook | undefined {
  const share = work === undefined ? undefined : shareToCome(limiter, work);
  let tightest: { readonly dimension: DimensionStats; readonly ms: number } | undefined;
  for (const dimension of limiter.dimensions) {
    const { maxRowsPerSecond, available, queuedTokens, grantedTokens } = dimension;
    if (!(maxRowsPerSecond > 0 && maxRowsPerSecond < Infinity)) continue;
    const tokens = share === undefined ? queuedTokens : share * grantedTokens;
    const ms = ((tokens - available) / maxRowsPerSecond) * 1_000;
    if (tightest === undefined || ms > tightest.ms) tightest = { dimension, ms };
  }
  if (tightest === undefined) return undefined;
  const leftMs = tightest.ms + limiter.pausedForMs;
  const isKnown = share !== undefined && tightest.ms > 0 && Number.isFinite(leftMs);
  return { dimension: tightest.dimension, leftMs: isKnown ? leftMs : undefined };
}

/**
 * The calls that have yet to draw, for each one that has drawn. So many times what was granted so far is to be granted
 * still. Calls in flight have drawn, but for those in line, and those that wait for a slot of their function: so no more
 * calls than the limiter has granted. To count by calls that have ended would promise too long a time as long as more and
 * more are in flight.
 */
function shareToCome(limiter: ProvidedLimiter, work: FunctionStats): number | undefined {
  const ended = endedCalls(work);
  const begun = ended + Math.max(0, work.inFlight - limiter.queued);
  // One token may be for many calls: those that have ended have drawn in any case.
  const drawn = Math.max(ended, Math.min(begun, limiter.granted));
  return drawn > 0 ? Math.max(0, (work.expected ?? 0) - drawn) / drawn : undefined;
}
