import { ContextKey, type RateBudget, fn, map, useContext, useSignal } from "tidegate";
import type { Service } from "../support/service.js";
import type { Completion } from "./model-service.js";
import { estimateTokens } from "../support/prompts.js";

export const BUDGET = new ContextKey<RateBudget<"requests" | "tokens">>("model_budget");
export const MODEL = new ContextKey<Service>("model");

/** Most calls in flight at once. The budget's margin depends on it. */
export const CONCURRENCY = 6;

const complete = fn(
  {
    rateLimit: {
      key: BUDGET,
      cost: (prompt: string) => ({ requests: 1, tokens: estimateTokens(prompt) }),
      // What the answer says it has used takes the place of the estimate; a refused call keeps it.
      settle: (answer) => (answer === undefined ? {} : { tokens: answer.usage.total_tokens }),
    },
  },
  async function complete(prompt: string): Promise<Completion | undefined> {
    const response = await fetch(useContext(MODEL).url, {
      method: "POST",
      body: prompt,
      signal: useSignal(),
    });
    const answer: unknown = await response.json();
    return response.ok ? (answer as Completion) : undefined;
  },
);

/** Asks every prompt; undefined where the service answered 429. It knows no rate: whoever provides BUDGET decides. */
export function completeAll(prompts: readonly string[]): Promise<(Completion | undefined)[]> {
  return map(complete, prompts, { concurrency: CONCURRENCY });
}
