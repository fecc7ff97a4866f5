import { App, Environment } from "tidegate";
import { WORST_ERROR, makePrompts } from "../support/prompts.js";
import { head, row } from "../support/table.js";
import type { Tally } from "../support/service.js";
import { budgetBelow } from "./budget.js";
import { BUDGET, type Observer, makeClient, narrowing } from "./client.js";
import { CLIENT, CONCURRENCY, completeAll } from "./pipeline.js";
import { type ModelQuota, startStandIn } from "./stand-in.js";

/** 150 requests and 20,000 tokens a minute, where a minute takes a second, so that a short run sees the sustained rate. */
const QUOTA: ModelQuota = {
  requests: { perSecond: 150, burst: 60 },
  tokens: { perSecond: 20_000, burst: 8_000 },
};

const PROMPTS = 600;

/** What a run was like on both sides. */
interface Outcome extends Omit<Tally, "tooMany"> {
  /** Calls that have ended with a 429. */
  readonly tooMany: number;
  /** Answers 429 that the service has sent. */
  readonly refusedByService: number;
}

/** Asks the prompts of a fresh service, with a fresh budget. */
async function completeWith(
  prompts: readonly string[],
  halvedAfter = Infinity,
  observe: Observer = () => undefined,
): Promise<Outcome> {
  await using service = await startStandIn(QUOTA, halvedAfter);
  const environment = new Environment({
    name: "openai",
    lifespan: async function* (builder) {
      builder.provide(BUDGET, budgetBelow(QUOTA));
      builder.provide(CLIENT, makeClient(service.url, observe));
      yield;
    },
  });
  const answers = await new App({ name: "complete", environment }, completeAll, prompts).run();
  await environment.stop();
  const { seconds, ok, tooMany: refusedByService, quotaUsed } = service.tally();
  const tooMany = answers.filter((answer) => answer === undefined).length;
  return { seconds, ok, tooMany, refusedByService, quotaUsed };
}

function print(label: string, outcome: Outcome): void {
  const seen = { ...outcome, tooMany: outcome.refusedByService };
  console.log(row(label, PROMPTS, seen) + String(outcome.tooMany).padStart(16));
}

const { requests, tokens } = QUOTA;
const prompts = makePrompts(PROMPTS);
console.log(
  `Asking ${String(PROMPTS)} prompts with the SDK of OpenAI, ${String(CONCURRENCY)} calls in flight, of a stand-in that allows ` +
    `${String(requests.perSecond)} requests/s and ${String(tokens.perSecond)} tokens/s.\nWhat a call uses is up to ` +
    `${String(WORST_ERROR * 100)}% more or less than its estimate.\n`,
);
console.log(`${head()}${"429 got through".padStart(16)}`);
await completeWith(prompts.slice(0, 50)); // loads and compiles what else would hold up the first calls
const steady = await completeWith(prompts);
print("steady", steady);
const halved = await completeWith(prompts, PROMPTS / 2);
print("halved", halved);
const limits = { requests: requests.perSecond, tokens: tokens.perSecond };
const narrowed = await completeWith(prompts, PROMPTS / 2, narrowing(limits));
print("halved, narrowed", narrowed);
console.log(
  "\nQuota used is that of the tighter quota, here tokens. In the second and third run the service halves its quotas in" +
    "\nmid-run. In the second nothing is done about it: limitFetch pauses the budget for each 429 and sends the call again." +
    "\nIn the third the program lowers the rate of its budget by the headers of the answers.\n",
);
console.log(JSON.stringify({ items: PROMPTS, ...steady, halved, narrowed }));
