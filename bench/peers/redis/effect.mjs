import { Effect, Layer, ManagedRuntime } from "effect";
import { RateLimiter } from "effect/persistence";
import { redisLayer } from "../faults/effect.mjs";

export default {
  uses: "`RateLimiter.sleep`, token bucket, `layerStoreRedis`, each call as a promise by `Effect.runPromise`",
  async create({ port, rate, burst }) {
    const store = Layer.provide(RateLimiter.layerStoreRedis(), redisLayer(port));
    const runtime = ManagedRuntime.make(Layer.provide(RateLimiter.layer, store));
    const limiter = await runtime.runPromise(RateLimiter.RateLimiter);
    const wait = RateLimiter.sleep(limiter, {
      key: "bench",
      algorithm: "token-bucket",
      limit: burst,
      window: (burst / rate) * 1000,
    });
    return () => Effect.runPromise(wait);
  },
};
