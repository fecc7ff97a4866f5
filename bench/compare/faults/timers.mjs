/** What a limiter leaves with the event loop: while many wait, and when nobody does. */
import { short } from "../support/jobs.mjs";

const WAITERS = 1_000;
/** Longer than a process takes to end, also on a busy machine. */
const IDLE_WINDOW_MS = 3_000;
const PROMPT_MS = 1_000;

const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;

export const faults = [
  {
    name: "one timer per waiter",
    contestants: [
      { library: "p-throttle", make: "windowed", setting: "windowed" },
      { library: "tidegate", module: "limiter", make: "bucket" },
    ],
    async probe(make) {
      const runner = make({ limit: 10, windowMs: 1_000 });
      const before = timers();
      for (let waiter = 0; waiter < WAITERS; waiter += 1) void runner.run(() => undefined);
      // A limiter may need a turn before it sets its timers.
      await new Promise((resolve) => setImmediate(resolve));
      return { timers: timers() - before };
    },
    seen: ({ timers: count }) => count > 1,
    figure: ({ timers: count }) => `timers after ${String(WAITERS)} calls: ${String(count)}`,
  },
  {
    name: "an idle limiter holds the process",
    untilExit: true,
    contestants: [
      { library: "async-sema", make: "perWindow" },
      {
        library: "@tanstack/pacer",
        module: "tanstack-pacer",
        make: "perWindow",
        setting: "AsyncRateLimiter",
      },
      { library: "tidegate", module: "limiter", make: "bucket" },
    ],
    async probe(make) {
      await make({ limit: 1, windowMs: IDLE_WINDOW_MS }).run(() => undefined);
      return {};
    },
    seen: ({ heldMs }) => heldMs > PROMPT_MS,
    figure: ({ heldMs }) => `the process was held for ${short(heldMs)} ms after its last permit`,
  },
];
