import { head, row } from "../support/table.js";
import type { HostTally } from "./host.js";

export interface Failure {
  readonly url: string;
  readonly error: unknown;
}

/** Everything that a crawl has come to. */
export interface Outcome {
  readonly seconds: number;
  /** URLs that were found, whether or not they were fetched. */
  readonly found: number;
  /** As the exception handler was told. */
  readonly failures: readonly Failure[];
  readonly hosts: readonly HostTally[];
}

const MOST_FAILURES = 3;

/** A table for people, and as the last line JSON for programs. */
export function summaryOf({ seconds, found, failures, hosts }: Outcome): string {
  const sum = (count: (tally: HostTally) => number): number =>
    hosts.reduce((total, tally) => total + count(tally), 0);
  const requests = sum((tally) => tally.requests);
  const facts = {
    found,
    pages: sum(({ ok }) => ok),
    requests,
    tooMany: sum(({ tooMany }) => tooMany),
    failures: failures.length,
    seconds,
    quotaUsed: Object.fromEntries(hosts.map(({ host, quotaUsed }) => [host, quotaUsed])),
  };
  return [
    `${head()}${"500".padStart(12)}`,
    ...hosts.map((tally) => row(tally.host, tally.requests, tally) + String(tally.broken).padStart(12)),
    "",
    `${String(found)} pages found, ${String(requests)} requests, ${String(failures.length)} failures reported.`,
    ...failures.slice(0, MOST_FAILURES).map(({ url, error }) => `  ${url}: ${String(error)}`),
    ...(failures.length > MOST_FAILURES ? [`  and ${String(failures.length - MOST_FAILURES)} more`] : []),
    "Items are the requests that a host has seen, seconds the time from its first to its last, quota used their number" +
      "\nas a share of what it allowed in that time: its burst, of which the budget leaves a part, and its rate times the seconds.\n",
    JSON.stringify(facts),
  ].join("\n");
}
