import { expect, test } from "@jest/globals";
import got, { type Got } from "got";
import { RateLimiter } from "tidegate";
import { toText } from "./support/client.js";
import { text } from "./support/http-answers.js";
import { type HttpService, startHttpService } from "./support/http-service.js";

// got takes no fetch: its hooks do what limitFetch does elsewhere. This is the recipe in docs/fetch.md.
function limited(limiter: RateLimiter): Got {
  return got.extend({
    retry: { limit: 2, methods: ["GET", "POST"] },
    hooks: {
      beforeRequest: [
        async ({ signal }) => {
          await limiter.acquire(1, { signal });
        },
      ],
      afterResponse: [
        (response) => {
          const seconds = Number(response.headers["retry-after"] ?? NaN);
          if (response.statusCode === 429 && seconds >= 0) limiter.pause(Math.min(60, seconds) * 1000);
          return response;
        },
      ],
    },
  });
}

async function ask(client: Got, { url }: HttpService, signal?: AbortSignal): Promise<string> {
  const json = { prompt: "How high is the tide?" };
  return (await client.post(url, { json, ...(signal && { signal }) }).json<{ text: string }>()).text;
}

const QUOTA = { style: "anthropic", requests: { perSecond: 40, burst: 12 } } as const;

test("16 calls at once, 4 above the burst of the service: none is refused", async () => {
  await using service = await startHttpService(QUOTA);
  const client = limited(new RateLimiter({ maxRowsPerSecond: 39.6, burstWindowSecs: 2 / 39.6 }));
  const answers = await Promise.all(Array.from({ length: 16 }, () => ask(client, service)));
  expect(answers).toEqual(Array.from({ length: 16 }, text));
  expect([service.served, service.refused]).toEqual([16, 0]);
});

test("a refusal pauses the limiter, and got sends again through it", async () => {
  await using service = await startHttpService({ ...QUOTA, requests: { perSecond: 25, burst: 4 } });
  const limiter = new RateLimiter({ maxRowsPerSecond: 30, burstWindowSecs: 6 / 30 });
  const client = limited(limiter);
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(client, service)));
  expect(answers).toEqual(Array.from({ length: 8 }, text));
  expect(service.refused).toBeGreaterThan(0);
  expect(limiter.stats().granted).toBe(8 + service.refused);
});

test("an abort ends the wait and gives the place up", async () => {
  await using service = await startHttpService(QUOTA);
  const limiter = new RateLimiter({ maxRowsPerSecond: 0.1, burstWindowSecs: 0, initialTokens: 0 });
  const leave = new AbortController();
  const outcome = ask(limited(limiter), service, leave.signal).catch(toText);
  while (limiter.stats().queued === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  leave.abort();
  expect(await outcome).toMatch(/AbortError/);
  expect(limiter.stats()).toMatchObject({ queued: 0, granted: 0, aborted: 1 });
  expect(service.served).toBe(0);
});

test("the time limit of a request begins behind the hook, so the wait does not count", async () => {
  await using service = await startHttpService(QUOTA);
  const limiter = new RateLimiter({ maxRowsPerSecond: 2, burstWindowSecs: 0, initialTokens: 0 });
  const client = limited(limiter).extend({ timeout: { request: 300 }, retry: { limit: 0 } });
  expect(await ask(client, service)).toBe(text());
  expect(limiter.stats().waitedMs).toBeGreaterThan(400);
});
