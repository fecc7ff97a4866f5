import { RateLimiterQueue, RateLimiterRedis } from "rate-limiter-flexible";
import { connect } from "../faults/redis.mjs";

export default {
  uses: "`RateLimiterQueue` over `RateLimiterRedis`, whose windows are whole seconds: the rate, once a second",
  create({ port, rate, burst, waits }) {
    const points = waits ? rate : burst;
    const store = new RateLimiterRedis({
      storeClient: connect(port),
      keyPrefix: "bench",
      points,
      duration: 1,
    });
    const queue = new RateLimiterQueue(store);
    return () => queue.removeTokens(1);
  },
};
