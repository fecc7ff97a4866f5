import Bottleneck from "bottleneck";
import { Redis } from "ioredis";

/** `limit` jobs, then again so many every `windowMs`. */
export function reservoir({ limit, windowMs }) {
  return runner(
    new Bottleneck({
      reservoir: limit,
      reservoirRefreshAmount: limit,
      reservoirRefreshInterval: windowMs,
    }),
  );
}

/** One job at a time, so far apart that `limit` of them take `windowMs`. */
export function spaced({ limit, windowMs }) {
  return runner(new Bottleneck({ minTime: windowMs / limit }));
}

/** The same over a Redis server. */
export async function overRedis({ limit, windowMs, redisPort }) {
  const limiter = new Bottleneck({
    minTime: windowMs / limit,
    datastore: "ioredis",
    id: "compare",
    Redis,
    clientOptions: { port: redisPort, host: "127.0.0.1" },
  });
  await limiter.ready();
  return runner(limiter);
}

function runner(limiter) {
  return { run: (job, { cost = 1 } = {}) => limiter.schedule({ weight: cost }, async () => job()) };
}
