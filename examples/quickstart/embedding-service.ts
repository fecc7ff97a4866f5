import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { performance } from "node:perf_hooks";
import { TokenBucket } from "limiter";

/** What the service allows each client: a sustained rate, and a burst on top. */
export interface Quota {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** What the service itself has seen, from its first request to its last answer. */
export interface Tally {
  readonly seconds: number;
  readonly ok: number;
  readonly tooMany: number;
  /** Answers 200 as a share of what the quota allowed in that time. */
  readonly quotaUsed: number;
}

export interface EmbeddingService extends AsyncDisposable {
  readonly url: string;
  tally(): Tally;
}

const DIMENSIONS = 16;

/**
 * A stand-in for a hosted embedding API: real HTTP on a free loopback port, guarded by a limiter that is not
 * tidegate's, and a 429 for everything above the quota. It does its own counting.
 */
export async function startEmbeddingService(quota: Quota): Promise<EmbeddingService> {
  const bucket = new TokenBucket({
    bucketSize: quota.burst,
    tokensPerInterval: quota.requestsPerSecond,
    interval: "second",
  });
  bucket.content = quota.burst; // this library starts empty; an API that nobody has called yet is full
  let ok = 0;
  let tooMany = 0;
  let firstAt: number | undefined;
  let lastAt = 0;

  const server = createServer((request, response) => {
    firstAt ??= performance.now();
    const admitted = bucket.tryRemoveTokens(1);
    if (admitted) ok += 1;
    else tooMany += 1;
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (part: string) => (text += part));
    request.on("end", () => {
      response.writeHead(admitted ? 200 : 429, { "content-type": "application/json" });
      response.end(JSON.stringify(admitted ? { embedding: embed(text) } : { error: "rate limit exceeded" }));
      lastAt = performance.now();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/embed`,
    tally() {
      const seconds = firstAt === undefined ? 0 : (lastAt - firstAt) / 1000;
      return { seconds, ok, tooMany, quotaUsed: ok / (quota.burst + quota.requestsPerSecond * seconds) };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A feature-hashed bag of words, scaled to length 1: cheap, but near for texts that share words. */
function embed(text: string): number[] {
  const vector = new Array<number>(DIMENSIONS).fill(0);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    let hash = 0;
    for (const letter of word) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) >>> 0;
    vector[hash % DIMENSIONS] = (vector[hash % DIMENSIONS] ?? 0) + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
