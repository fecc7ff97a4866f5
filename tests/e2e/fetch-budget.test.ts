import { describe, expect, test } from "@jest/globals";
import OpenAI from "openai";
import { ContextKey, RateBudget, withContext } from "tidegate";
import { limitFetch } from "tidegate/fetch";
import { PROMPT } from "./support/client.js";
import { text, TOTAL_TOKENS } from "./support/http-answers.js";
import { startHttpService } from "./support/http-service.js";

/** What the body of each call says it may use at most. */
const ESTIMATE = 20;

const BUDGET = new ContextKey<RateBudget<"requests" | "tokens">>("budget");

const fetch = limitFetch(BUDGET, {
  cost: async (request) => {
    const body = (await request.json()) as { max_completion_tokens: number };
    return { requests: 1, tokens: body.max_completion_tokens };
  },
  settle: async (answer) => {
    const body = (await answer.json()) as { usage: { total_tokens: number } };
    return { requests: 1, tokens: body.usage.total_tokens };
  },
});

function ask(url: string, maxRetries = 0): Promise<OpenAI.ChatCompletion> {
  const client = new OpenAI({ apiKey: "none", baseURL: `${url}/v1`, fetch, maxRetries });
  return client.chat.completions.create({
    model: "tide-1",
    messages: [{ role: "user", content: PROMPT }],
    max_completion_tokens: ESTIMATE,
  });
}

describe("a budget of requests and tokens, found by its key", () => {
  test("an estimate from the body is settled by the usage in the answer, which the client reads too", async () => {
    await using service = await startHttpService({
      style: "openai",
      requests: { perSecond: 50, burst: 50 },
    });
    const budget = new RateBudget({
      requests: { maxRowsPerSecond: 0.01, burstWindowSecs: 1000 },
      tokens: { maxRowsPerSecond: 0.01, burstWindowSecs: 10_000 },
    });
    const answer = await withContext(BUDGET, budget, () => ask(service.url));
    expect(answer.choices[0]?.message.content).toBe(text());
    expect(answer.usage?.total_tokens).toBe(TOTAL_TOKENS);
    const { requests, tokens } = budget.stats().dimensions;
    expect(requests.available).toBeCloseTo(10 - 1, 0);
    expect(tokens.available).toBeCloseTo(100 - TOTAL_TOKENS, 0);
  });

  test("tokens are short, requests are not: none of 10 calls is refused", async () => {
    await using service = await startHttpService({
      style: "openai",
      requests: { perSecond: 1000, burst: 1000 },
      tokens: { perSecond: 400, burst: 5 * ESTIMATE }, // of 10 calls the last takes 0.25 s at least
    });
    const budget = new RateBudget({
      requests: { maxRowsPerSecond: 990 },
      tokens: { maxRowsPerSecond: 396, burstWindowSecs: ESTIMATE / 396 },
    });
    // This service counts what a call may use, so that is what it has cost.
    const counted = limitFetch(budget, { cost: { requests: 1, tokens: ESTIMATE } });
    const client = new OpenAI({
      apiKey: "none",
      baseURL: `${service.url}/v1`,
      fetch: counted,
      maxRetries: 0,
    });
    const calls = Array.from({ length: 10 }, () =>
      client.chat.completions.create({
        model: "tide-1",
        messages: [{ role: "user", content: PROMPT }],
        max_completion_tokens: ESTIMATE,
      }),
    );
    expect(await Promise.all(calls)).toHaveLength(10);
    expect([service.served, service.refused]).toEqual([10, 0]);
  });
});
