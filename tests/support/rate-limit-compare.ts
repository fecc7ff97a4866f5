import { type BucketStats, type LineStats, WaitTooLongError } from "../../src/rate-limit/index.js";
import type { Costs } from "./rate-limit-exact-meter.js";
import type { Fate, LimiterModel } from "./rate-limit-model.js";
import type { Rated } from "./rate-limit-settings.js";

/** What "exact" means, in milliseconds: one nanosecond. */
export const EXACT_MS = 1e-6;

/** Compares doubles that were computed in two ways. */
function expectExact(what: string, actual: number, expected: number, tolerance: number): void {
  const error = Math.abs(actual - expected);
  if (actual === expected || error <= tolerance + Math.abs(expected) * 1e-14) return;
  throw new Error(`${what}: ${String(actual)}, but the model has ${String(expected)}`);
}

/** Compares plain values and lists of numbers; called so often that jest's own comparison would take most of the time. */
export function expectSame(what: string, actual: unknown, expected: unknown): void {
  if (actual === expected || (Array.isArray(actual) && String(actual) === String(expected))) return;
  throw new Error(`${what}: ${String(actual)}, but the model has ${String(expected)}`);
}

/** What can be seen of a limiter or a budget. */
export interface Seen extends LineStats {
  readonly buckets: readonly BucketStats[];
}

/** What has become of a call. */
export interface Settled {
  readonly fate: Fate;
  readonly at: number;
  readonly error: unknown;
}

export function compareState(
  model: LimiterModel,
  { buckets, queued, pausedForMs }: Seen,
  rates: readonly Rated[],
): void {
  const levels = model.meter.levelsAt(model.now);
  for (const [index, { available, capacity }] of buckets.entries()) {
    expectSame("capacity", capacity, model.meter.buckets[index]?.capacity.toNumber());
    const tolerance = ((rates[index]?.rate ?? NaN) * EXACT_MS) / 1000;
    expectExact(`available of ${String(index)}`, available, levels[index]?.toNumber() ?? NaN, tolerance);
  }
  expectSame("queued", queued, model.queued);
  expectSame(
    "queuedTokens",
    buckets.map(({ queuedTokens }) => queuedTokens),
    model.queuedTokens,
  );
  const paused = model.meter.pauseEnd(model.now)?.minus(model.now).toNumber() ?? 0;
  expectExact("pausedForMs", pausedForMs, paused, EXACT_MS);
}

/** Compares the counts of the past, after so many calls. */
export function compareCounts(model: LimiterModel, seen: Seen, calls: number): void {
  expectSame("granted", seen.granted, model.granted);
  expectSame(
    "grantedTokens",
    seen.buckets.map((bucket) => bucket.grantedTokens),
    model.grantedTokens,
  );
  expectSame("aborted", seen.aborted, model.left);
  expectExact("waitedMs", seen.waitedMs, model.waitedMs().toNumber(), EXACT_MS * (1 + calls));
}

/** Compares the estimate for a cost: exact of a limiter, and never above the wait of a budget. */
export function compareEstimate(model: LimiterModel, costs: Costs, estimate: number): void {
  const what = `estimateWaitMs(${String(costs)})`;
  expectExact(what, estimate, model.closed ? Infinity : model.estimate(costs).toNumber(), EXACT_MS);
  if (model.closed || costs.length === 1) return;
  const exact = model.exactWait(costs).toNumber();
  if (estimate > exact + EXACT_MS)
    throw new Error(`${what}: ${String(estimate)}, but it is ${String(exact)}`);
}

export function compareOutcome(
  model: LimiterModel,
  id: number,
  { fate, at, error }: Settled,
  limitMs: number | undefined,
): void {
  const outcome = model.outcomes.get(id);
  const call = `call ${String(id)}`;
  expectSame(`fate of ${call}`, fate, outcome?.fate);
  expectExact(`time of ${call}`, at, outcome?.at.toNumber() ?? NaN, EXACT_MS);
  if (!(error instanceof WaitTooLongError)) return;
  const { estimatedWaitMs, maxWaitMs } = error;
  if (fate === "too long") {
    expectExact(`estimate for ${call}`, estimatedWaitMs, outcome?.estimateMs?.toNumber() ?? NaN, EXACT_MS);
  } else {
    expectSame(`limit of ${call}`, maxWaitMs, limitMs);
    expectSame(`estimate above the limit of ${call}`, estimatedWaitMs >= maxWaitMs, true);
  }
}
