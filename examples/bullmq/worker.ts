import { Worker } from "bullmq";
import { Redis } from "ioredis";
import { Environment } from "tidegate";
import { RedisRateLimiter } from "tidegate/redis";
import { RATE_LIMIT, SERVICE_URL, embed } from "./pipeline.js";
import type { WorkerPlan } from "./plan.js";
import { QUEUE, connectionTo } from "./queue.js";

// The program of one worker process. It says "ready", works until it is told to stop, and lets its jobs end then.

const { name, redisPort, serviceUrl, concurrency, budget } = JSON.parse(process.argv[2] ?? "") as WorkerPlan;

const exitAtOnce = (): void => process.exit(1);
process.once("disconnect", exitAtOnce); // who has started it is gone, and Redis with it

const environment = new Environment({
  name,
  lifespan: async function* (builder) {
    // Not one of BullMQ's connections: those send again what was not answered, and a budget would be spent twice.
    const client = new Redis(redisPort, "127.0.0.1", { autoResendUnfulfilledCommands: false });
    builder.defer(() => {
      client.disconnect();
    });
    builder.provide(SERVICE_URL, serviceUrl);
    await builder.provideWith(RATE_LIMIT, new RedisRateLimiter({ client, name: QUEUE, ...budget }));
    yield;
  },
});
await environment.start();

const worker = new Worker<string, number[]>(QUEUE, ({ data }) => environment.run(() => embed(data)), {
  connection: connectionTo(redisPort),
  concurrency,
  name,
});
await worker.waitUntilReady();

process.once("message", () => void stop());
process.send?.("ready");

async function stop(): Promise<void> {
  await worker.close();
  await environment.stop();
  process.off("disconnect", exitAtOnce); // nothing holds the process any more
}
