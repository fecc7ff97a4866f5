// Checked by `npm run types`; never run.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { ContextKey } from "tidegate";
import { type FetchLike, type FetchLimiter, limitFetch, type PausableLimiter } from "tidegate/fetch";
import { type KeyedRateLimiter, type Limiter, type RateBudget, RateLimiter } from "tidegate/rate-limit";

declare const limiter: RateLimiter;
declare const budget: RateBudget<"requests" | "tokens">;
declare const plain: Limiter;
declare const keyed: KeyedRateLimiter<string>;

// The result goes wherever a client takes a fetch.
const limited: typeof globalThis.fetch = limitFetch(limiter);
limited satisfies FetchLike;
new OpenAI({ fetch: limited, apiKey: "" });
new Anthropic({ fetch: limited, apiKey: "" });

// A limiter has to be able to pause.
export const pausable: PausableLimiter = new RateLimiter({ maxRowsPerSecond: 1 });
export const sources: FetchLimiter[] = [limiter, budget, pausable];
limitFetch(pausable);
limitFetch({ acquire: () => Promise.resolve(), pause: (ms: number) => Promise.resolve(ms) });
// @ts-expect-error it cannot pause
export const notPausable: PausableLimiter = plain;
// @ts-expect-error it cannot pause
limitFetch(plain);
// @ts-expect-error it has a limiter for each key; take one of them
limitFetch(keyed);
limitFetch(keyed.for("tenant"));
// @ts-expect-error what it draws from is missing
limitFetch();

// Keys of them will do.
limitFetch(new ContextKey<RateLimiter>("limiter"), { cost: 2 });
limitFetch(new ContextKey<PausableLimiter>("limiter"));
limitFetch(new ContextKey<typeof budget>("budget"), { cost: { requests: 1 } });
// @ts-expect-error what is under the key cannot pause
limitFetch(new ContextKey<Limiter>("limiter"));

// At a limiter, costs are numbers.
limitFetch(limiter, { cost: 2, settle: () => 3 });
limitFetch(limiter, {
  cost: async (request) => (await request.text()).length,
  settle: async (answer, request) => (request.method === "GET" ? undefined : (await answer.text()).length),
});
// @ts-expect-error a limiter takes a number
limitFetch(limiter, { cost: { tokens: 1 } });
// @ts-expect-error a limiter takes a number
limitFetch(limiter, { cost: () => "1" });
// @ts-expect-error a limiter takes a number
limitFetch(limiter, { settle: () => ({ tokens: 1 }) });

// At a budget, they are records of its dimensions.
limitFetch(budget, {
  cost: async (request) => ({ requests: 1, tokens: (await request.text()).length }),
  settle: () => ({ tokens: 5 }),
});
// @ts-expect-error a budget takes a record
limitFetch(budget, { cost: 1 });
// @ts-expect-error no such dimension
limitFetch(budget, { cost: { words: 1 } });
// @ts-expect-error a budget takes a record
limitFetch(budget, { cost: { tokens: 1 }, settle: () => 5 });
// @ts-expect-error no such dimension
limitFetch(budget, { cost: { tokens: 1 }, settle: () => ({ words: 5 }) });

// The other options.
limitFetch(limiter, { retry: 3, feedback: false, fetch: (input, init) => fetch(input, init) });
limitFetch(limiter, { retry: false, feedback: { maxPauseMs: 1, isShared: ({ status }) => status === 429 } });
limitFetch(limiter, { retry: { retries: 1, statuses: [429], methods: ["POST"], backoffMs: 1 } });
limitFetch(limiter, { retry: undefined, feedback: undefined, fetch: undefined, cost: undefined });
// @ts-expect-error no such option
limitFetch(limiter, { retries: 3 });
// @ts-expect-error true says nothing
limitFetch(limiter, { retry: true });
// @ts-expect-error a fetch gives a Response
limitFetch(limiter, { fetch: () => Promise.resolve("") });
