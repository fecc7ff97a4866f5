import { RateLimiter } from "tidegate/rate-limit";

/** @type {import("../adapters.mjs").LimiterAdapter} */
export default {
  name: "tidegate",
  entry: import.meta.resolve("tidegate/rate-limit"),
  program: `export { RateLimiter } from "tidegate/rate-limit";`,
  uses: "`RateLimiter`, `acquire()`",
  grants: "permits",
  create({ rate, burst }) {
    const limiter = new RateLimiter({ maxRowsPerSecond: rate, burstWindowSecs: burst / rate });
    return (signal) => (signal === undefined ? limiter.acquire() : limiter.acquire(1, { signal }));
  },
  cannot: {},
};
