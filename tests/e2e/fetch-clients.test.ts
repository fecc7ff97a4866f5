import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { RateLimiter } from "tidegate";
import { limitFetch } from "tidegate/fetch";
import { gate } from "../support/gate.js";
import { toText } from "./support/client.js";
import { text, WORDS } from "./support/http-answers.js";
import { type HttpService, startHttpService } from "./support/http-service.js";
import { aiSdk, anthropic, openai } from "./support/model-clients.js";
import { axiosClient, kyClient, ofetchClient } from "./support/plain-clients.js";

// Real clients, real HTTP and the real clock. Some of the clients ask for Node.js 22; all of them run on 20.

const CLIENTS = [openai, anthropic, aiSdk, kyClient, ofetchClient, axiosClient].map(
  (client) => [client.name, client] as const,
);

/** Waits for 10 s at its first call, so whoever is served by it in a test has not waited for its turn. */
function slowLimiter(): RateLimiter {
  return new RateLimiter({ maxRowsPerSecond: 0.1, burstWindowSecs: 0, initialTokens: 0 });
}

async function untilQueued(limiter: RateLimiter): Promise<void> {
  while (limiter.stats().queued === 0) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe.each(CLIENTS)("%s", (_, client) => {
  const rest = gate();
  let service: HttpService;

  beforeEach(async () => {
    const requests = { perSecond: 40, burst: 12 };
    service = await startHttpService({ style: client.style, requests, beforeRest: rest.promise });
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  test("16 calls at once, 4 above the burst of the service: none is refused", async () => {
    // A little less than the quota, and room for the requests of 250 ms, as the README says.
    const limiter = new RateLimiter({ maxRowsPerSecond: 39.6, burstWindowSecs: 2 / 39.6 });
    const { ask } = client.open({ url: service.url, fetch: limitFetch(limiter) });
    const answers = await Promise.all(Array.from({ length: 16 }, () => ask()));
    expect(answers).toEqual(Array.from({ length: 16 }, text));
    expect([service.served, service.refused]).toEqual([16, 0]);
  });

  test("a quota that is lower than thought: the limiter is paused, and the client sees no refusal", async () => {
    await using strict = await startHttpService({
      style: client.style,
      requests: { perSecond: 25, burst: 4 },
    });
    const limiter = new RateLimiter({ maxRowsPerSecond: 30, burstWindowSecs: 6 / 30 });
    const fetch = limitFetch(limiter, { retry: { methods: ["POST"], retries: 5 } });
    const { ask } = client.open({ url: strict.url, fetch });
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask()));
    expect(answers).toEqual(Array.from({ length: 10 }, text));
    expect(strict.served).toBe(10);
    expect(strict.refused).toBeGreaterThan(0);
    // Each sending took a token.
    expect(limiter.stats().granted).toBe(10 + strict.refused);
  });

  test("a POST is not sent again unless told: the client sees the refusal", async () => {
    await using strict = await startHttpService({
      style: client.style,
      requests: { perSecond: 1, burst: 1 },
    });
    const { ask } = client.open({
      url: strict.url,
      fetch: limitFetch(new RateLimiter({ maxRowsPerSecond: 50 })),
    });
    expect(await ask()).toBe(text());
    expect(await ask().catch(toText)).toMatch(/429|Too Many Requests|Too many requests/);
    expect(strict.refused).toBe(1);
  });

  test("a stream passes part by part: the first is there before the second was sent", async () => {
    const limiter = new RateLimiter({ maxRowsPerSecond: 40 });
    const { stream } = client.open({ url: service.url, fetch: limitFetch(limiter) });
    const parts: string[] = [];
    for await (const part of stream()) {
      if (part !== "") parts.push(part);
      rest.open(); // only now does the service send the rest
    }
    expect(parts).toEqual(WORDS);
  });

  test("an abort ends the wait: the place and the tokens are there for others", async () => {
    const limiter = slowLimiter();
    const { ask } = client.open({ url: service.url, fetch: limitFetch(limiter) });
    const leave = new AbortController();
    const outcome = ask(leave.signal).catch(toText);
    await untilQueued(limiter);
    leave.abort();
    expect(await outcome).toMatch(client.aborted);
    expect(limiter.stats()).toMatchObject({ queued: 0, queuedTokens: 0, granted: 0, aborted: 1 });
    expect(service.served).toBe(0);
  });

  test("a time limit longer than the wait, and no retries of the client: it is served", async () => {
    const limiter = new RateLimiter({ maxRowsPerSecond: 5, burstWindowSecs: 0, initialTokens: 0 });
    const fetch = limitFetch(limiter);
    const { ask } = client.open({ url: service.url, fetch, timeoutMs: 600_000, retries: 0 });
    expect(await ask()).toBe(text());
    expect(limiter.stats().waitedMs).toBeGreaterThan(150);
    expect(service.served).toBe(1);
  });
});
