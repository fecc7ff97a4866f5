import { Effect, Layer, ManagedRuntime } from "effect";
import * as RateLimiter from "effect/persistence/RateLimiter";

export default {
  name: "effect",
  entry: import.meta.resolve("effect/persistence/RateLimiter"),
  program: `
    export { Effect, Layer, ManagedRuntime } from "effect";
    export { RateLimiter, sleep, layer, layerStoreMemory } from "effect/persistence/RateLimiter";`,
  uses: "`RateLimiter.sleep`, token bucket in memory, each call as a promise by `Effect.runPromise`",
  grants: "permits",
  async create({ rate, burst }) {
    const runtime = ManagedRuntime.make(RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory)));
    const limiter = await runtime.runPromise(RateLimiter.RateLimiter);
    const wait = RateLimiter.sleep(limiter, {
      key: "bench",
      algorithm: "token-bucket",
      limit: burst,
      window: (burst / rate) * 1000,
    });
    return (signal) => Effect.runPromise(wait, { signal });
  },
  cannot: {},
};
