import { Effect, Fiber, Layer, ManagedRuntime } from "effect";
import { RateLimiter, Redis } from "effect/persistence";
import adapter from "../containers/effect.mjs";
import { connect } from "./redis.mjs";

/** A full bucket of `limit` tokens that refills in `windowMs`. */
export function bucket(options) {
  return runnerOver(RateLimiter.layerStoreMemory, options);
}

/** The same bucket over a Redis server. */
export function overRedis({ redisPort, ...options }) {
  return runnerOver(Layer.provide(RateLimiter.layerStoreRedis(), redisLayer(redisPort)), options);
}

/** The library's Redis service over a client of the server at that port. */
export function redisLayer(port) {
  const client = connect(port);
  const send = (command, ...args) =>
    Effect.tryPromise({
      try: () => client.call(command, ...args),
      catch: (cause) => new Redis.RedisError({ cause }),
    });
  const connection = { send, close: Effect.void };
  const redis = Redis.make({ send, subscribe: () => Effect.never, connect: Effect.succeed(connection) });
  return Layer.effect(Redis.Redis, redis);
}

export const lazy = adapter.asyncValue;

function runnerOver(store, { limit, windowMs }) {
  const runtime = ManagedRuntime.make(Layer.provide(RateLimiter.layer, store));
  const options = { algorithm: "token-bucket", onExceeded: "delay", key: "compare", limit, window: windowMs };
  const running = new Set();
  return {
    run(job) {
      const limited = Effect.flatMap(RateLimiter.makeWithRateLimiter, (withLimit) =>
        withLimit(options)(Effect.sync(job)),
      );
      const fiber = runtime.runFork(limited);
      running.add(fiber);
      fiber.addObserver(() => running.delete(fiber));
      return Effect.runPromise(Fiber.join(fiber));
    },
    abortWaiters() {
      for (const fiber of running) Effect.runFork(Fiber.interrupt(fiber));
    },
  };
}
