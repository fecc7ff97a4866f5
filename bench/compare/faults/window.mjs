/** One call, a pause for most of the window, then a flood: what is left of the window and a new one come together. */
import { setTimeout as sleep } from "node:timers/promises";
import { mostInWindow, startsOf } from "../support/jobs.mjs";

const LIMIT = 10;
/** bottleneck takes multiples of 250 ms only; rate-limiter-flexible counts in seconds, with fractions. */
const WINDOW_MS = 500;
/** So late that what is left of the window comes shortly before the next, and early enough to be held up by a bit. */
const PAUSE_MS = 0.6 * WINDOW_MS;
/** Enough to fill three windows. */
const CALLS = 3 * LIMIT;

export const faults = [
  {
    name: "limit N per window admits up to 2N-1",
    alone: true,
    contestants: [
      { library: "bottleneck", make: "reservoir", setting: "reservoir" },
      { library: "p-queue", make: "fixed", setting: "fixed window" },
      { library: "p-queue-9", make: "fixed", setting: "fixed window" },
      { library: "p-throttle", make: "windowed", setting: "windowed" },
      { library: "limiter", make: "perWindow" },
      { library: "rate-limiter-flexible", make: "queue", setting: "queue" },
      { library: "tidegate", module: "limiter", make: "inWindow", setting: "burst 2, 8 per 500 ms" },
    ],
    async probe(make) {
      const runner = make({ limit: LIMIT, windowMs: WINDOW_MS });
      const starts = await startsOf(runner, 1);
      await sleep(PAUSE_MS);
      starts.push(...(await startsOf(runner, CALLS)));
      // Less than the whole window, so that early timers, which are a fault of their own, do not count here.
      return { most: mostInWindow(starts, 0.95 * WINDOW_MS) };
    },
    seen: ({ most }) => most > LIMIT,
    figure: ({ most }) =>
      `${String(most)} in ${String(0.95 * WINDOW_MS)} ms; limit ${String(LIMIT)} in ${String(WINDOW_MS)}`,
  },
];
