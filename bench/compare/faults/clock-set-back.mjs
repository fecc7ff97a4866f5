/** The clock on the wall is set back by an hour, as an operator or a time server does, while callers wait. */
import { LATE, startsOf, within } from "../support/jobs.mjs";

const HOUR_MS = 3_600_000;
const LIMIT = 2;
const WINDOW_MS = 500;
const CALLS = 2 * LIMIT;
const NEEDED_MS = (CALLS / LIMIT) * WINDOW_MS;
/** Six windows for two windows' worth of calls. */
const PATIENCE_MS = 3_000;

let setBackMs = 0;

export const faults = [
  {
    name: "wall clock set back one hour: callers stuck",
    contestants: [
      { library: "bottleneck", make: "spaced", setting: "minTime" },
      { library: "p-queue", make: "fixed", setting: "fixed window" },
      { library: "p-queue-9", make: "fixed", setting: "fixed window" },
      { library: "p-queue-9", make: "strict", setting: "strict" },
      { library: "p-throttle", make: "windowed", setting: "windowed" },
      { library: "p-ratelimit", make: "perWindow" },
      { library: "rate-limiter-flexible", make: "queue", setting: "queue" },
      { library: "tidegate", module: "limiter", make: "bucket" },
    ],
    prepare() {
      const RealDate = Date;
      globalThis.Date = class extends RealDate {
        constructor(...args) {
          super(...(args.length === 0 ? [RealDate.now() - setBackMs] : args));
        }

        static now() {
          return RealDate.now() - setBackMs;
        }
      };
    },
    async probe(make) {
      const runner = make({ limit: LIMIT, windowMs: WINDOW_MS });
      await startsOf(runner, LIMIT);
      setBackMs = HOUR_MS;
      let granted = 0;
      const job = () => {
        granted += 1;
      };
      const all = Promise.all(Array.from({ length: CALLS }, () => runner.run(job)));
      const end = await within(all, PATIENCE_MS);
      return { granted, stuck: end === LATE };
    },
    seen: ({ stuck }) => stuck,
    figure: ({ granted }) =>
      `${String(granted)} of ${String(CALLS)} granted within ${String(PATIENCE_MS / 1000)} s; they need ${String(NEEDED_MS / 1000)} s`,
  },
];
