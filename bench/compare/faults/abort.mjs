/** Those who wait leave; then somebody comes, who should wait as if they had never been there. */
import { setTimeout as sleep } from "node:timers/promises";
import { LATE, short, within } from "../support/jobs.mjs";

const LIMIT = 2;
const WINDOW_MS = 2_000;
const LEAVERS = 4;
/** So long after the start do the waiting ones leave and the newcomer arrives. */
const LEAVE_AFTER_MS = 100;
/** A bucket has a token for the newcomer after half a window, a window after a whole one; a bit for busy machines. */
const EARLIEST_MS = WINDOW_MS / LIMIT - 50;
const LATEST_MS = WINDOW_MS + 500;
/** Longer than the tokens of those who left would take. */
const PATIENCE_MS = 10_000;

export const faults = [
  {
    name: "an aborted waiter's tokens stay spent, or an abort forgets history",
    contestants: [
      { library: "effect", make: "bucket", setting: "token bucket" },
      { library: "p-throttle", make: "windowed", setting: "windowed" },
      { library: "tidegate", module: "limiter", make: "bucket" },
    ],
    async probe(make) {
      const startedAt = performance.now();
      const runner = make({ limit: LIMIT, windowMs: WINDOW_MS });
      const job = () => performance.now() - startedAt;
      await Promise.all(Array.from({ length: LIMIT }, () => runner.run(job)));
      const leavers = Array.from({ length: LEAVERS }, () => runner.run(job));
      await sleep(LEAVE_AFTER_MS);
      runner.abortWaiters();
      const ends = await Promise.allSettled(leavers);
      const grantedMs = await within(runner.run(job), PATIENCE_MS);
      return {
        left: ends.filter(({ status }) => status === "rejected").length,
        grantedMs: grantedMs === LATE ? PATIENCE_MS : grantedMs,
      };
    },
    seen: ({ left, grantedMs }) => left < LEAVERS || grantedMs < EARLIEST_MS || grantedMs > LATEST_MS,
    figure: ({ left, grantedMs }) =>
      `${String(left)} left; the next was granted after ${short(grantedMs)} ms; due between ${String(WINDOW_MS / LIMIT)} and ${String(WINDOW_MS)}`,
  },
];
