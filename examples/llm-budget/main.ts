import { App, Environment, RateBudget, type RateOptions } from "tidegate";
import type { QuotaRate } from "../support/quota.js";
import type { Tally } from "../support/service.js";
import { head, row } from "../support/table.js";
import { type ModelQuota, startModelService } from "./model-service.js";
import { BUDGET, CONCURRENCY, MODEL, completeAll } from "./pipeline.js";
import { MOST_TOKENS, WORST_ERROR, makePrompts } from "../support/prompts.js";

/** 3,600 requests and 240,000 tokens a minute, by the second, so that a short run sees the sustained rate. */
const QUOTA: ModelQuota = {
  requests: { perSecond: 60, burst: 60 },
  tokens: { perSecond: 4_000, burst: 4_000 },
};

const PROMPTS = 160;

/** Requests arrive at most so much closer together than they were allowed to leave. */
const JITTER_SECS = 0.1;

/** The most tokens by which the estimate of one call is wrong. */
const OFF_BY = Math.ceil(WORST_ERROR * MOST_TOKENS);

/**
 * The most by which the budget may be wrong about the service: of every call in flight it knows only the estimate, until
 * the answer settles it. Once for those that use more. And once for those that use less: what they give back can be
 * spent by a pipeline that had paused, while the service, full by then, had no room to save it up.
 */
const UNSETTLED = 2 * CONCURRENCY * OFF_BY;

/** What a budget leaves of a burst to the service: for what is not settled, and for requests that close up. */
function marginOf({ perSecond }: QuotaRate, unsettled: number): number {
  return unsettled + JITTER_SECS * perSecond;
}

/** A little under a quota: its rate less 1%, for room that was used to come back, and its burst less the margin. */
function below(quota: QuotaRate, unsettled: number): RateOptions {
  const maxRowsPerSecond = quota.perSecond * 0.99;
  return { maxRowsPerSecond, burstWindowSecs: (quota.burst - marginOf(quota, unsettled)) / maxRowsPerSecond };
}

/** Runs the pipeline once against a fresh service; the two runs differ in the value of BUDGET alone. */
async function completeWith(
  budget: RateBudget<"requests" | "tokens">,
  prompts: readonly string[],
): Promise<Tally> {
  const environment = new Environment({
    name: "llm-budget",
    lifespan: async function* (builder) {
      builder.provide(BUDGET, budget);
      await builder.provideWith(MODEL, startModelService(QUOTA));
      yield;
    },
  });
  await using running = await environment.start();
  await new App({ name: "complete", environment }, completeAll, prompts).run();
  return running.get(MODEL).tally();
}

const prompts = makePrompts(PROMPTS);
const { requests, tokens } = QUOTA;
const unlimited: RateOptions = { maxRowsPerSecond: Infinity };
console.log(
  `Asking ${String(PROMPTS)} prompts of a model over HTTP that allows ${String(requests.perSecond)} requests/s and ` +
    `${String(tokens.perSecond)} tokens/s. What a call uses is up to ${String(WORST_ERROR * 100)}% more or less than ` +
    "its estimate.\n",
);
console.log(head());
const without = await completeWith(new RateBudget({ requests: unlimited, tokens: unlimited }), prompts);
console.log(row("without budget", PROMPTS, without));
const budget = new RateBudget({ requests: below(requests, 0), tokens: below(tokens, UNSETTLED) });
const tally = await completeWith(budget, prompts);
console.log(row("with budget", PROMPTS, tally));
const margin = marginOf(tokens, UNSETTLED);
console.log(
  "\nQuota used is that of the tighter quota, here tokens. The budget has 1% less rate than the service, and less burst" +
    "\nby a margin, for until a call is settled the budget knows only its estimate:" +
    `\n  ${String(CONCURRENCY)} calls in flight, each off by at most ${String(OFF_BY)} tokens, too low or too high: 2 x ${String(CONCURRENCY)} x ${String(OFF_BY)} = ${String(UNSETTLED)} tokens` +
    `\n  requests that arrive up to ${String(JITTER_SECS)} s closer together than they left: ${String(margin - UNSETTLED)} tokens` +
    `\nSo of a burst of ${String(tokens.burst)} tokens the budget takes ${String(tokens.burst - margin)}. Fewer calls in flight need less margin.\n`,
);
console.log(JSON.stringify({ items: PROMPTS, ...tally }));
