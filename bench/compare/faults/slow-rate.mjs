/** A rate below one per second. */
import { short, startsOf } from "../support/jobs.mjs";

const RATE = 0.5;
const CALLS = 3;

export const faults = [
  {
    name: "0.5/s runs at 1/s",
    contestants: [
      { library: "async-sema", make: "perSecond" },
      { library: "tidegate", module: "limiter", make: "perSecond" },
    ],
    async probe(make) {
      const starts = await startsOf(make({ rate: RATE }), CALLS);
      return { rate: ((CALLS - 1) * 1000) / (starts.at(-1) - starts[0]) };
    },
    // A tenth above it is more than early timers explain.
    seen: ({ rate }) => rate > 1.1 * RATE,
    figure: ({ rate }) => `${short(rate, 2)} per second; ${String(RATE)} asked for`,
  },
];
