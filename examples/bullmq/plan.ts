import type { QuotaRate } from "../support/quota.js";
import type { FleetOptions } from "./options.js";

/** The burst of the budget: what all processes together make up when they stall for less. */
const BURST_SECS = 0.25;

/** Jobs that are begun and not done, in all processes together, as seconds of the rate. */
const IN_FLIGHT_SECS = 0.3;

/** What a worker process is told. */
export interface WorkerPlan {
  readonly name: string;
  readonly redisPort: number;
  /** Where the service listens. */
  readonly serviceUrl: string;
  /** Jobs at once. */
  readonly concurrency: number;
  /** What all workers share. */
  readonly budget: { readonly maxRowsPerSecond: number; readonly burstWindowSecs: number };
}

/** What all workers are told alike, and what the service allows so that it never has to refuse. */
export interface Terms extends Pick<WorkerPlan, "concurrency" | "budget"> {
  readonly quota: QuotaRate;
}

/**
 * A job that has its token, or has one set aside, holds one of the places of its process until the service has answered.
 * So at most as many as there are places can arrive in any time beyond those that the budget grants in it, however long a
 * process stalls. The rate is 1% less than that of the quota: the budget goes by the clock of Redis, which is not that
 * of the service.
 */
export function termsFor({ rate, workers }: FleetOptions): Terms {
  const maxRowsPerSecond = 0.99 * rate;
  const concurrency = Math.ceil((IN_FLIGHT_SECS * rate) / workers);
  const burst = BURST_SECS * maxRowsPerSecond + workers * concurrency;
  return {
    concurrency,
    budget: { maxRowsPerSecond, burstWindowSecs: BURST_SECS },
    quota: { perSecond: rate, burst: Math.ceil(burst) }, // up, for a bucket holds at least one token
  };
}
