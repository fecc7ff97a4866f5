import { setTimeout } from "node:timers/promises";
import { shareOf } from "../support/hash.js";
import { estimateTokens, tokensUsed } from "../support/prompts.js";
import { Quota, type QuotaRate, takeAll } from "../support/quota.js";
import { type Service, startService } from "../support/service.js";

/** What the service allows each client. A call needs room in both. */
export interface ModelQuota {
  readonly requests: QuotaRate;
  readonly tokens: QuotaRate;
}

/** The shortest and the longest time that an answer takes, in milliseconds. */
export const FASTEST_MS = 20;
export const SLOWEST_MS = 60;

/** The part of a request that counts. */
interface Completion {
  readonly model: string;
  readonly messages: readonly { readonly content: string }[];
}

/** What is asked of the model, in the body of a request as the SDK sends it. */
export function promptOf(body: unknown): string {
  return (body as Completion).messages.map(({ content }) => content).join("\n");
}

/**
 * A stand-in for the API of a hosted model: two quotas, both taken when a call arrives, the tokens by what the call will
 * have used in fact. A call that one of them has no room for is answered 429 and takes nothing. The headers are those
 * of the real one.
 *
 * @param halvedAfter - After so many calls both quotas are halved.
 */
export function startStandIn(quota: ModelQuota, halvedAfter = Infinity): Promise<Service> {
  const requests = new Quota(quota.requests);
  const tokens = new Quota(quota.tokens);
  let calls = 0;
  return startService({
    admit(text) {
      const used = tokensUsed(promptOf(JSON.parse(text)));
      if (!takeAll([requests, 1], [tokens, used])) return false;
      calls += 1;
      if (calls === halvedAfter) for (const each of [requests, tokens]) each.halve();
      return true;
    },
    async answer(text) {
      const body = JSON.parse(text) as Completion;
      const prompt = promptOf(body);
      await setTimeout(FASTEST_MS + (SLOWEST_MS - FASTEST_MS) * shareOf(`time of ${prompt}`));
      return completion(body.model, prompt);
    },
    headers(text, admitted) {
      const needed = tokensUsed(promptOf(JSON.parse(text)));
      const waitMs = Math.max(requests.waitMs(1), tokens.waitMs(needed));
      return {
        ...headersOf("requests", requests),
        ...headersOf("tokens", tokens),
        ...(!admitted && { "retry-after-ms": String(waitMs) }),
      };
    },
    quotaUsedIn: (seconds) => Math.max(requests.usedIn(seconds), tokens.usedIn(seconds)),
  });
}

/** What is allowed a minute (here a second), what is left of it, and how long it takes until it is full again. */
function headersOf(name: string, quota: Quota): Record<string, string> {
  return {
    [`x-ratelimit-limit-${name}`]: String(quota.rate.perSecond),
    [`x-ratelimit-remaining-${name}`]: String(Math.floor(quota.left)),
    [`x-ratelimit-reset-${name}`]: `${String(quota.waitMs(quota.rate.burst))}ms`,
  };
}

function completion(model: string, prompt: string): unknown {
  const total = tokensUsed(prompt);
  const question = Math.min(total, Math.floor(estimateTokens(prompt) / 2));
  const message = { role: "assistant", content: "As high as yesterday.", refusal: null };
  return {
    id: "chatcmpl-local",
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
    usage: { prompt_tokens: question, completion_tokens: total - question, total_tokens: total },
  };
}
