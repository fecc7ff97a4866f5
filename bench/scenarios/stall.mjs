/** The event loop is blocked for 500 ms in the middle of a backlog: what was missed must not come at once. */
import { RateLimiter } from "tidegate/rate-limit";
import { alternate } from "../support/fresh-process.mjs";
import { allowance, faultsOf, logBacklog, overshoot, ReadClock } from "../support/grants.mjs";
import { promiseVerdict } from "../support/table.mjs";

const ROUNDS = 3;
const RATE = 1_000;
const BURST = 1;
const WAITERS = 1_500;
const BLOCK_AFTER_MS = 500;
const BLOCK_MS = 500;

export const contestants = {
  async ours() {
    const clock = new ReadClock();
    const limiter = new RateLimiter({ maxRowsPerSecond: RATE, burstWindowSecs: 0, clock });
    let blockedUntil = 0;
    setTimeout(() => {
      blockedUntil = performance.now() + BLOCK_MS;
      while (performance.now() < blockedUntil);
    }, BLOCK_AFTER_MS);
    const log = await logBacklog(limiter, clock, WAITERS, BURST);
    return {
      over: overshoot(log.times, RATE, BURST),
      atOnce: log.times.filter((time) => time >= blockedUntil && time < blockedUntil + 1).length,
      waited: log.times.filter((time) => time >= blockedUntil).length,
      faults: faultsOf(log, RATE, BURST),
    };
  },
};

export async function measure() {
  const { ours } = await alternate("stall", ["ours"], ROUNDS);
  const faults = ours.flatMap((result) => result.faults);
  // A stall that comes before or after the backlog would prove nothing.
  if (ours.some((result) => result.waited === 0 || result.waited === WAITERS)) {
    faults.push("the stall missed the backlog");
  }
  return {
    title: `${RATE.toLocaleString("en")}/s, burst 1, the event loop blocked for ${String(BLOCK_MS)} ms`,
    rows: [
      {
        what: "tokens above burst + rate x time, worst window",
        figure: Math.max(...ours.map((result) => result.over)).toFixed(2),
        goal: `at most ${String(allowance(RATE))}, in order`,
        verdict: promiseVerdict(faults),
      },
      {
        what: "tokens in the first millisecond after it",
        figure: String(Math.max(...ours.map((result) => result.atOnce))),
      },
    ],
    faults,
  };
}
