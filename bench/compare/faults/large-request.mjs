/** A request for many tokens among small ones, and one for more than there can ever be at a time. */
import { setTimeout as sleep } from "node:timers/promises";
import { LATE, short, within } from "../support/jobs.mjs";

const LIMIT = 10;
const WINDOW_MS = 500;
/** Six windows; a fair line grants the large request after one. */
const PATIENCE_MS = 3_000;
/** More than the bucket holds. */
const LARGER = 2 * LIMIT;
/** Ten small ones come in the time of one token. */
const SMALL_EVERY_MS = 5;

const grantedOrNot = (ms) =>
  ms === null ? `not granted within ${String(PATIENCE_MS / 1000)} s` : `granted after ${short(ms)} ms`;

export const faults = [
  {
    name: "a large request starves while small ones pass",
    contestants: [
      { library: "limiter", make: "smallOnesTry", setting: "tryRemoveTokens of a TokenBucket" },
      { library: "aiolimiter", notRun: "a Python library" },
      { library: "tidegate", module: "limiter", make: "smallOnesTry", setting: "tryAcquire" },
      { library: "tidegate", module: "limiter", make: "smallOnesWait", setting: "acquire" },
    ],
    async probe(make) {
      const limiter = make({ limit: LIMIT, windowMs: WINDOW_MS });
      await limiter.take(LIMIT);
      const askedAt = performance.now();
      let grantedMs = null;
      void limiter.take(LIMIT).then(() => {
        grantedMs = performance.now() - askedAt;
      });
      while (grantedMs === null && performance.now() - askedAt < PATIENCE_MS) {
        limiter.takeSmall();
        await sleep(SMALL_EVERY_MS);
      }
      return { grantedMs };
    },
    seen: ({ grantedMs }) => grantedMs === null,
    figure: ({ grantedMs }) => `${grantedOrNot(grantedMs)}; due after ${String(WINDOW_MS)}`,
  },
  {
    name: "a request above the bucket hangs or is an error",
    contestants: [
      { library: "bottleneck", make: "reservoir", setting: "reservoir" },
      { library: "limiter", make: "perWindow" },
      { library: "rate-limiter-flexible", make: "queue", setting: "queue" },
      { library: "tidegate", module: "limiter", make: "bucket" },
    ],
    async probe(make) {
      const runner = make({ limit: LIMIT, windowMs: WINDOW_MS });
      const askedAt = performance.now();
      const job = () => performance.now() - askedAt;
      try {
        const grantedMs = await within(runner.run(job, { cost: LARGER }), PATIENCE_MS);
        return { grantedMs: grantedMs === LATE ? null : grantedMs };
      } catch (error) {
        return { grantedMs: null, refusal: error.message };
      }
    },
    // The bucket holds half of it, and the other half takes a window: what comes earlier ignores the cost. A tenth for
    // early timers.
    seen: ({ grantedMs }) => grantedMs === null || grantedMs < 0.9 * WINDOW_MS,
    figure: ({ grantedMs, refusal }) =>
      refusal === undefined
        ? `${String(LARGER)} tokens of a bucket of ${String(LIMIT)}: ${grantedOrNot(grantedMs)}; due after ${String(WINDOW_MS)}`
        : `refused: ${refusal}`,
  },
];
