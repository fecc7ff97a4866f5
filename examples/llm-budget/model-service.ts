import { setTimeout } from "node:timers/promises";
import { shareOf } from "../support/hash.js";
import { Quota, type QuotaRate, takeAll } from "../support/quota.js";
import { type Service, startService } from "../support/service.js";
import { tokensUsed } from "../support/prompts.js";

/** What the service allows each client. A call needs room in both. */
export interface ModelQuota {
  readonly requests: QuotaRate;
  readonly tokens: QuotaRate;
}

export interface Completion {
  readonly text: string;
  readonly usage: { readonly total_tokens: number };
}

/**
 * A stand-in for a hosted language model: two quotas, both taken when a call arrives, the tokens by what the call will
 * have used in fact. A call that one of them has no room for is answered 429 and takes nothing.
 */
export function startModelService(quota: ModelQuota): Promise<Service> {
  const requests = new Quota(quota.requests);
  const tokens = new Quota(quota.tokens);
  return startService({
    admit: (prompt) => takeAll([requests, 1], [tokens, tokensUsed(prompt)]),
    async answer(prompt): Promise<Completion> {
      await setTimeout(20 + 40 * shareOf(`time of ${prompt}`));
      return { text: "As high as yesterday.", usage: { total_tokens: tokensUsed(prompt) } };
    },
    quotaUsedIn: (seconds) => Math.max(requests.usedIn(seconds), tokens.usedIn(seconds)),
  });
}
