/** Many keys, each used once: what is remembered of them when all could be forgotten? */
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { short } from "../support/jobs.mjs";

const KEYS = 20_000;
const WINDOW_MS = 1_000;
/** Three windows: long enough for everything to refill and for timers to be done. */
const IDLE_MS = 3 * WINDOW_MS;
/** Far less than an object for each key, and more than what the rest of the process adds. */
const FORGOTTEN_BYTES = 50;

export const faults = [
  {
    name: "keyed limiters are never evicted",
    contestants: [
      { library: "rate-limiter-flexible", make: "keyed", setting: "queue" },
      { library: "tidegate", module: "limiter", make: "keyed", setting: "KeyedRateLimiter" },
    ],
    async probe(make) {
      setFlagsFromString("--expose-gc");
      const collect = runInNewContext("gc");
      const limiter = make({ limit: 10, windowMs: WINDOW_MS });
      // Once before, so that code that is compiled on first use does not count.
      await limiter.acquire("first");
      collect();
      const before = process.memoryUsage().heapUsed;
      for (let key = 0; key < KEYS; key += 1) await limiter.acquire(`key ${String(key)}`);
      await sleep(IDLE_MS);
      const keys = limiter.countKeys?.();
      collect();
      return { keys, bytesPerKey: (process.memoryUsage().heapUsed - before) / KEYS };
    },
    seen: ({ keys = 0, bytesPerKey }) => keys > 0 || bytesPerKey > FORGOTTEN_BYTES,
    figure: ({ keys, bytesPerKey }) =>
      `${String(KEYS)} idle keys hold ${short(Math.max(0, bytesPerKey))} bytes each` +
      (keys === undefined ? "" : `; ${String(keys)} remembered`),
  },
];
