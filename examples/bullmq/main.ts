import { App, ContextKey, Environment, runMain, useContext, useSignal } from "tidegate";
import { startEmbeddingService } from "../quickstart/embedding-service.js";
import { readOrExit } from "../support/number-options.js";
import { makePrompts } from "../support/prompts.js";
import { type FleetOptions, OPTIONS, readOptions } from "./options.js";
import { termsFor } from "./plan.js";
import { Jobs } from "./queue.js";
import { requireRedisServer, startRedis } from "./redis.js";
import { shortfalls, summaryOf } from "./summary.js";
import { type Workers, startWorkers } from "./workers.js";

const JOBS = new ContextKey<Jobs>("jobs");
const WORKERS = new ContextKey<Workers>("workers");

function fleet(options: FleetOptions): Environment {
  return new Environment({
    name: "bullmq",
    // What is in flight is with the workers, and these let it end when they are closed.
    drainTimeoutMs: 0,
    lifespan: async function* (builder) {
      const { quota, ...terms } = termsFor(options);
      const redis = await startRedis();
      builder.defer(() => redis[Symbol.asyncDispose]());
      const service = await startEmbeddingService(quota);
      builder.defer(() => service[Symbol.asyncDispose]());
      const jobs = await builder.provideWith(JOBS, new Jobs(redis.port));
      builder.defer(async () => {
        // Between the two: the workers have ended, and what they have done can still be read.
        const outcome = { jobs: options.jobs, ended: await jobs.tally(), service: service.tally() };
        console.log(summaryOf(outcome));
        for (const line of shortfalls(outcome)) {
          console.error(line);
          process.exitCode = 1;
        }
      });
      const plans = Array.from({ length: options.workers }, (_, index) => ({
        name: `worker ${String(index + 1)}`,
        redisPort: redis.port,
        serviceUrl: service.url,
        ...terms,
      }));
      await builder.provideWith(WORKERS, startWorkers(plans));
      yield;
    },
  });
}

async function main(count: number): Promise<void> {
  const { pids, ended } = useContext(WORKERS);
  console.log(`The workers are ready: processes ${pids.join(", ")}.\n`);
  const signal = AbortSignal.any([useSignal(), ended]);
  await useContext(JOBS).doAll(makePrompts(count), signal);
}

const options = readOrExit(readOptions, OPTIONS);
requireRedisServer();
console.log(
  `${String(options.jobs)} jobs for ${String(options.workers)} worker processes, through an HTTP service that allows ` +
    `${String(options.rate)} requests/s to all of them together. Ctrl-C lets the jobs in flight end.\n`,
);
await runMain(new App({ name: "bullmq", environment: fleet(options) }, main, options.jobs));
