import OpenAI from "openai";
import { ContextKey, type RateBudget, useContext } from "tidegate";
import { limitFetch } from "tidegate/fetch";
import { estimateTokens } from "../support/prompts.js";
import { SHARE_OF_RATE } from "./budget.js";
import { promptOf } from "./stand-in.js";

export const BUDGET = new ContextKey<RateBudget<"requests" | "tokens">>("model_budget");

/** What looks at the headers of each answer. */
export type Observer = (headers: Headers) => void;

/** The SDK as it is; only its fetch draws from the budget, so nothing that calls it has to know. */
export function makeClient(url: string, observe: Observer): OpenAI {
  return new OpenAI({
    baseURL: `${url}v1`,
    apiKey: "local",
    fetch: limitFetch(BUDGET, {
      cost: async (request) => ({ requests: 1, tokens: estimateTokens(promptOf(await request.json())) }),
      async settle(answer) {
        observe(answer.headers);
        const { usage } = (await answer.json()) as OpenAI.ChatCompletion;
        return usage && { tokens: usage.total_tokens };
      },
      // Pauses do not lower the rate: while it is twice what is allowed, a call may be refused time and again.
      retry: { retries: 20, methods: ["POST"] },
    }),
    maxRetries: 0, // the fetch repeats what was refused; the SDK would not wait in line for it
    timeout: 600_000, // the SDK counts the wait at the budget too
  });
}

/**
 * Narrows the budget when an answer names a lower limit than any before it, so that after a change nobody has to be
 * refused. What a service says never widens a budget.
 *
 * @param limits - What the budget was made for.
 */
export function narrowing(limits: { requests: number; tokens: number }): Observer {
  const lowest = { ...limits };
  return (headers) => {
    for (const name of ["requests", "tokens"] as const) {
      const limit = Number(headers.get(`x-ratelimit-limit-${name}`) ?? Infinity);
      if (!(limit > 0 && limit < lowest[name])) continue;
      lowest[name] = limit;
      useContext(BUDGET).setRate({ [name]: { maxRowsPerSecond: limit * SHARE_OF_RATE } });
    }
  };
}
