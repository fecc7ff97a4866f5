import { RateBudget, type RateOptions } from "tidegate";
import { WORST_ERROR } from "../support/prompts.js";
import type { QuotaRate } from "../support/quota.js";
import { type ModelQuota, SLOWEST_MS } from "./stand-in.js";

/** Of each rate; the rest is for room that was used to come back. */
export const SHARE_OF_RATE = 0.99;

/** Requests arrive at most so much closer together than they were allowed to leave. */
const JITTER_SECS = 0.15;

/** A budget a little under both quotas. */
export function budgetBelow({ requests, tokens }: ModelQuota): RateBudget<"requests" | "tokens"> {
  return new RateBudget({ requests: below(requests, 0), tokens: below(tokens, WORST_ERROR) });
}

/**
 * A little under a quota: its rate less 1%, and of its burst what is left when the worst has come together.
 *
 * How many calls are in flight says nothing here, for most of them wait at the budget. What the budget does not know is
 * what has left it and is not settled: at most a burst, and what the rate lets go while a call takes its longest. That
 * counts twice, once for calls that use more than their estimate, and once for those that use less: what they give
 * back can be spent when the service, full by then, had no room to save it up.
 *
 * @param error - The most by which an estimate is wrong, as a share of it.
 */
function below({ perSecond, burst }: QuotaRate, error: number): RateOptions {
  const maxRowsPerSecond = perSecond * SHARE_OF_RATE;
  const late = perSecond * (JITTER_SECS + 2 * error * (SLOWEST_MS / 1000));
  return { maxRowsPerSecond, burstWindowSecs: (burst - late) / (1 + 2 * error) / maxRowsPerSecond };
}
