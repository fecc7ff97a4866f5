/** A backlog on the real clock: no window with too many tokens, and no time wasted. */
import { RateLimiter } from "tidegate/rate-limit";
import { alternate } from "../support/fresh-process.mjs";
import { allowance, faultsOf, logBacklog, overshoot, ReadClock } from "../support/grants.mjs";
import { median } from "../support/statistics.mjs";
import { goalVerdict, promiseVerdict } from "../support/table.mjs";

const ROUNDS = 3;
const CASES = [
  { what: "200/s, burst 20", rate: 200, burst: 20, waiters: 820, goal: 0.999 },
  { what: "1,000/s, burst 1", rate: 1_000, burst: 1, waiters: 4_001, goal: 0.999 },
  { what: "10,000/s, strict", rate: 10_000, burst: 1, waiters: 20_001, goal: 0.98 },
];

export const contestants = {
  async ours({ rate, burst, waiters }) {
    const burstWindowSecs = burst === 1 ? 0 : burst / rate;
    const clock = new ReadClock();
    const limiter = new RateLimiter({ maxRowsPerSecond: rate, burstWindowSecs, clock });
    const log = await logBacklog(limiter, clock, waiters, burst);
    // Counted from the last grant of the timer's first tick on: to queue so many takes longer than the 5 ms that are
    // made up for, and what that tick grants at once must not count as speed.
    const from = log.times.findLastIndex((time) => time === log.times[burst]);
    const idealMs = ((waiters - 1 - from) * 1000) / rate;
    return {
      over: overshoot(log.times, rate, burst),
      overSeen: overshoot(log.seen, rate, burst),
      share: idealMs / (log.times.at(-1) - log.times[from]),
      faults: faultsOf(log, rate, burst),
    };
  },
};

export async function measure() {
  const rows = [];
  const faults = [];
  for (const { what, goal, ...input } of CASES) {
    const { ours } = await alternate("accuracy", ["ours"], ROUNDS, input);
    const found = ours.flatMap((result) => result.faults);
    const share = median(ours.map((result) => result.share));
    const over = Math.max(...ours.map((result) => result.over));
    const overSeen = Math.max(...ours.map((result) => result.overSeen));
    rows.push(
      {
        what: `${what}: tokens above burst + rate x time, worst window`,
        figure: `${over.toFixed(2)} (as callers saw it: ${overSeen.toFixed(2)})`,
        goal: `at most ${String(allowance(input.rate))}, in order`,
        verdict: promiseVerdict(found),
      },
      {
        what: `${what}: share of the ideal rate`,
        figure: percent(share, 2),
        goal: `at least ${percent(goal, 1)}`,
        verdict: goalVerdict(share >= goal),
      },
    );
    faults.push(...found.map((fault) => `${what}: ${fault}`));
  }
  return { title: "a backlog on the real clock", rows, faults };
}

function percent(share, digits) {
  return `${(share * 100).toFixed(digits)}%`;
}
