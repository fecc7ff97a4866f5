/** A limiter that counts whole milliseconds lets the next window start a fraction of one too early. */
import { setTimeout as sleep } from "node:timers/promises";
import { mostInWindow, startsOf } from "../support/jobs.mjs";

const LIMIT = 10;
const WINDOW_MS = 250;
/** Ten windows of each limiter. */
const CALLS = 100;
/** Whether it happens depends on the fraction of a millisecond at which a limiter starts: so many tries. */
const TRIES = 20;
/** From try to try, so that they start at different fractions. */
const SHIFT_MS = 1.37;

export const faults = [
  {
    name: "strict modes leak at the millisecond edge",
    alone: true,
    contestants: [
      { library: "p-queue", make: "strict", setting: "strict" },
      { library: "p-queue-9", make: "strict", setting: "strict" },
      { library: "p-throttle", make: "strict", setting: "strict" },
      { library: "tidegate", module: "limiter", make: "inWindow", setting: "burst 2, 8 per 250 ms" },
    ],
    async probe(make) {
      const tries = Array.from({ length: TRIES }, async (_, number) => {
        await sleep(number * SHIFT_MS);
        return mostInWindow(await startsOf(make({ limit: LIMIT, windowMs: WINDOW_MS }), CALLS), WINDOW_MS);
      });
      const counts = await Promise.all(tries);
      return { most: Math.max(...counts), leaked: counts.filter((most) => most > LIMIT).length };
    },
    // What tidegate may grant above it for late timers is a sixth of a token here: none.
    seen: ({ most }) => most > LIMIT,
    figure: ({ most, leaked }) =>
      `${String(most)} in less than ${String(WINDOW_MS)} ms; limit ${String(LIMIT)}; in ${String(leaked)} of ${String(TRIES)} tries`,
  },
];
