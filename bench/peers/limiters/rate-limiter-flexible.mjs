import { RateLimiterMemory, RateLimiterQueue } from "rate-limiter-flexible";

export default {
  name: "rate-limiter-flexible",
  entry: import.meta.resolve("rate-limiter-flexible"),
  program: `export { RateLimiterMemory, RateLimiterQueue } from "rate-limiter-flexible";`,
  uses: "`RateLimiterQueue` over `RateLimiterMemory`, `removeTokens(1)`",
  grants: "permits",
  create({ rate, burst }) {
    const queue = new RateLimiterQueue(new RateLimiterMemory({ points: burst, duration: burst / rate }));
    return () => queue.removeTokens(1);
  },
  cannot: { aborts: "no signal; a call can only be given a time of expiry, in whole seconds" },
};
