/** Node.js calls back at once what is to wait for more than 2^31-1 ms. */
import { setTimeout as sleep } from "node:timers/promises";

/** 35 days; a timer holds 24.8. */
const WINDOW_MS = 3_000_000_000;
const CALLS = 4;
const WATCH_MS = 300;

export const faults = [
  {
    name: "a delay above 2^31-1 ms fires at once",
    contestants: [
      { library: "bottleneck", make: "spaced", setting: "minTime" },
      { library: "p-throttle", make: "windowed", setting: "windowed" },
      { library: "p-queue", make: "fixed", setting: "fixed window" },
      { library: "p-queue-9", make: "fixed", setting: "fixed window" },
      { library: "tidegate", module: "limiter", make: "spaced" },
    ],
    async probe(make) {
      let ran = 0;
      const job = () => {
        ran += 1;
      };
      try {
        const runner = make({ limit: 1, windowMs: WINDOW_MS });
        for (let call = 0; call < CALLS; call += 1) void runner.run(job);
      } catch (error) {
        return { ran, refusal: error.message };
      }
      await sleep(WATCH_MS);
      return { ran };
    },
    seen: ({ ran }) => ran > 1,
    figure: ({ ran, refusal }) =>
      refusal === undefined
        ? `${String(ran)} of ${String(CALLS)} ran within ${String(WATCH_MS)} ms; 1 per 35 days`
        : `refused: ${refusal}`,
  },
];
