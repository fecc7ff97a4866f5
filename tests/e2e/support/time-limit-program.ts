import { RateLimiter } from "tidegate";
import { limitFetch } from "tidegate/fetch";
import { type Client, toText } from "./client.js";
import { startHttpService } from "./http-service.js";
import { anthropic, aiSdk, openai } from "./model-clients.js";
import { axiosClient, kyClient, ofetchClient } from "./plain-clients.js";

/** What happened to a call whose time limit is shorter than its wait. */
export interface Outcome {
  readonly client: string;
  readonly retries: number;
  /** What the client threw. */
  readonly thrown: string;
  readonly isOwnError: boolean;
  readonly queued: number;
  readonly granted: number;
  /** How often it has stood in the line. */
  readonly left: number;
  readonly sent: number;
}

async function outcomeOf(client: Client, retries: number): Promise<Outcome> {
  await using service = await startHttpService({
    style: client.style,
    requests: { perSecond: 40, burst: 12 },
  });
  // The first token comes after 10 s.
  const limiter = new RateLimiter({ maxRowsPerSecond: 0.1, burstWindowSecs: 0, initialTokens: 0 });
  const { ask } = client.open({ url: service.url, fetch: limitFetch(limiter), timeoutMs: 60, retries });
  const thrown = await ask().catch(toText);
  const { queued, granted, aborted: left } = limiter.stats();
  const sent = service.served + service.refused;
  const isOwnError = client.timedOut.test(thrown);
  return { client: client.name, retries, thrown, isOwnError, queued, granted, left, sent };
}

const all = [openai, anthropic, aiSdk, kyClient, ofetchClient, axiosClient];
const calls = all.flatMap((client) => [outcomeOf(client, 0), outcomeOf(client, 1)]);
console.log(JSON.stringify(await Promise.all(calls)));
