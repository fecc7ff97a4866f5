/** Callers of one limiter, each in an AsyncLocalStorage context of its own, as requests of a server are. */
import { AsyncLocalStorage } from "node:async_hooks";

const LIMIT = 2;
const WINDOW_MS = 100;
const CALLERS = 8;

export const faults = [
  {
    name: "queued work runs in another caller's AsyncLocalStorage context",
    contestants: [
      { library: "bottleneck", make: "spaced", setting: "minTime" },
      { library: "p-queue", make: "fixed", setting: "fixed window" },
      { library: "p-queue-9", make: "fixed", setting: "fixed window" },
      { library: "p-ratelimit", make: "perWindow" },
      { library: "tidegate", module: "limiter", make: "bucket" },
    ],
    async probe(make) {
      const storage = new AsyncLocalStorage();
      const runner = make({ limit: LIMIT, windowMs: WINDOW_MS });
      const numbers = Array.from({ length: CALLERS }, (_, caller) => caller);
      const calls = numbers.map((caller) =>
        storage.run({ caller }, () => runner.run(() => storage.getStore()?.caller === caller)),
      );
      const right = await Promise.all(calls);
      return { wrong: right.filter((isRight) => !isRight).length };
    },
    seen: ({ wrong }) => wrong > 0,
    figure: ({ wrong }) => `${String(wrong)} of ${String(CALLERS)} calls in the wrong context`,
  },
];
