import { fileURLToPath } from "node:url";
import { App, Environment, type Limiter, RateLimiter } from "tidegate";
import { type Chunk, markdownChunks } from "./chunks.js";
import { type Quota, type Tally, startEmbeddingService } from "./embedding-service.js";
import { RATE_LIMIT, SERVICE, embedAll } from "./pipeline.js";

const QUOTA: Quota = { requestsPerSecond: 50, burst: 10 };

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

function row(label: string, items: number, { seconds, ok, tooMany, quotaUsed }: Tally): string {
  const cells = [items, seconds.toFixed(2), ok, tooMany, `${(quotaUsed * 100).toFixed(1)}%`];
  return label.padEnd(16) + cells.map((cell) => String(cell).padStart(12)).join("");
}

const repository = fileURLToPath(new URL("../../", import.meta.url));
const chunks = await markdownChunks(repository, PIECES);
const { requestsPerSecond, burst } = QUOTA;
console.log(
  `Embedding this repository's Markdown, ${String(chunks.length)} chunks, through an HTTP service that allows ` +
    `${String(requestsPerSecond)} requests/s with a burst of ${String(burst)}.\n`,
);
console.log(
  " ".repeat(16) + ["items", "seconds", "200", "429", "quota used"].map((head) => head.padStart(12)).join(""),
);
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
    "\nNext: docs/guide.md, then your own service in place of this one.\n",
);
console.log(JSON.stringify({ items: chunks.length, ...tally }));
