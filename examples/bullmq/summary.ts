import type { Tally } from "../support/service.js";
import { head, row } from "../support/table.js";
import type { JobTally } from "./queue.js";

/** Everything that a run has come to. */
export interface Outcome {
  /** Jobs that were to be done. */
  readonly jobs: number;
  readonly ended: JobTally;
  readonly service: Tally;
}

/** The least share of the quota that a run is to use. */
const LEAST_USED = 0.9;

const MOST_FAILURES = 3;

/** A table for people, and as the last line JSON for programs. */
export function summaryOf({ jobs, ended: { done, doneBy, failures }, service }: Outcome): string {
  const { tooMany, quotaUsed, seconds } = service;
  const workers = Object.fromEntries(Object.entries(doneBy).sort(([a], [b]) => a.localeCompare(b)));
  return [
    head(),
    row("shared budget", done, service),
    "",
    ...Object.entries(workers).map(([name, count]) => `${name}: ${String(count)} jobs`),
    ...failures.slice(0, MOST_FAILURES).map((reason) => `failed: ${reason}`),
    ...(failures.length > MOST_FAILURES ? [`and ${String(failures.length - MOST_FAILURES)} more`] : []),
    "Items are the jobs done, seconds the time from the first request to the last answer, quota used what the service" +
      "\nanswered as a share of what it allowed in that time: its burst, of which the budget leaves a part, and its rate.\n",
    JSON.stringify({ jobs, done, failed: failures.length, tooMany, quotaUsed, seconds, workers }),
  ].join("\n");
}

/** What is not as it should be, a line each. */
export function shortfalls({ jobs, ended: { done }, service: { tooMany, quotaUsed } }: Outcome): string[] {
  const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;
  return [
    ...(done === jobs ? [] : [`Of ${String(jobs)} jobs only ${String(done)} are done.`]),
    ...(tooMany === 0 ? [] : [`The service has refused ${String(tooMany)} requests.`]),
    ...(quotaUsed >= LEAST_USED
      ? []
      : [`Used is ${percent(quotaUsed)} of the quota, which is less than ${percent(LEAST_USED)}.`]),
  ];
}
