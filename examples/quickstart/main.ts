import { fileURLToPath } from "node:url";
import { App, Environment, type Limiter, RateLimiter } from "tidegate";
import type { QuotaRate } from "../support/quota.js";
import type { Tally } from "../support/service.js";
import { head, row } from "../support/table.js";
import { type Chunk, markdownChunks } from "./chunks.js";
import { startEmbeddingService } from "./embedding-service.js";
import { RATE_LIMIT, SERVICE, embedAll } from "./pipeline.js";

const QUOTA: QuotaRate = { perSecond: 50, burst: 10 };

/**
 * A little under the quota, for the service counts when a request arrives, not when it was allowed to leave. With 8
 * tokens less burst, requests may arrive up to 160 ms closer together than they left; with 1% less rate that room
 * comes back once it was used.
 */
const BUDGET = { maxRowsPerSecond: 49.5, burstWindowSecs: 2 / 49.5 };

const PIECES = 300;

/** Runs the pipeline once against a fresh service; the two runs differ in the value of RATE_LIMIT alone. */
async function embedWith(limiter: Limiter, chunks: readonly Chunk[]): Promise<Tally> {
  const environment = new Environment({
    name: "quickstart",
    lifespan: async function* (builder) {
      builder.provide(RATE_LIMIT, limiter);
      await builder.provideWith(SERVICE, startEmbeddingService(QUOTA));
      yield;
    },
  });
  await using running = await environment.start();
  await new App({ name: "embed", environment }, embedAll, chunks).run();
  return running.get(SERVICE).tally();
}

const repository = fileURLToPath(new URL("../../", import.meta.url));
const chunks = await markdownChunks(repository, PIECES);
console.log(
  `Embedding this repository's Markdown, ${String(chunks.length)} chunks, through an HTTP service that allows ` +
    `${String(QUOTA.perSecond)} requests/s with a burst of ${String(QUOTA.burst)}.\n`,
);
console.log(head());
console.log(
  row(
    "without budget",
    chunks.length,
    await embedWith(new RateLimiter({ maxRowsPerSecond: Infinity }), chunks),
  ),
);
const tally = await embedWith(new RateLimiter(BUDGET), chunks);
console.log(row("with budget", chunks.length, tally));
console.log(
  "\nThe pipeline is examples/quickstart/pipeline.ts; the budget is one line of the lifespan in main.ts beside it." +
    "\nNext: docs/getting-started.md, then your own service in place of this one.\n",
);
console.log(JSON.stringify({ items: chunks.length, ...tally }));
