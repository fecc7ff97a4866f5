import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import {
  App,
  map,
  mapStream,
  mount,
  mountEach,
  useContext,
  withContext,
  withExceptionHandler,
  withTimeout,
} from "../../src/index.js";
import { BUDGET, callBatch, KEYED } from "./functions.js";
import { GENERATION, TAG } from "./generation.js";
import { LAZY } from "./lifespan.js";
import { checkHere, Holder, inBody, type Place, waiting } from "./place.js";
import type { FanOutPlan, Handler, ItemPlan, Plan } from "./plan.js";
import { mainOf } from "./main-of-run.js";
import { PlannedFailure, type Stage } from "./stage.js";

/** Does what a plan says, in the frame of the calling code, which is what `place` says. */
export async function perform(stage: Stage, place: Place, plan: Plan): Promise<void> {
  const step = steps[plan.kind] as (stage: Stage, place: Place, plan: Plan) => Promise<void>;
  await step(stage, place, plan);
  checkHere(stage, `what comes after ${plan.kind}`, place.tag);
}

type Step<K> = (stage: Stage, place: Place, plan: Extract<Plan, { readonly kind: K }>) => Promise<void>;

const steps: { readonly [K in Plan["kind"]]: Step<K> } = {
  async call(stage, place, plan) {
    const result = await stage.functions.calls[plan.name](place, plan);
    stage.check(result === plan.id, () => `call ${String(plan.id)} has given ${String(result)}`);
  },

  async batch(stage, place, { items }) {
    await all(items.map((item) => callBatch(stage, place, item)));
  },

  async draw(_stage, _place, { key, tokens, maxWaitMs }) {
    await useContext(KEYED).acquire(key, tokens, { maxWaitMs });
  },

  async permit(_stage, _place, { units, actual }) {
    const permit = await useContext(BUDGET).acquire({ calls: 1, units });
    await nextTurn();
    // Only more than was taken: what is given back is followed at the rated functions.
    permit.settle({ units: Math.max(units, actual) });
  },

  async lazy(stage, place) {
    const value = await useContext(LAZY);
    stage.check(value.isOpen, () => `a lazy value of ${place.tag} is closed while it is used`);
  },

  async all(stage, place, { parts }) {
    await all(parts.map((part) => perform(stage, place, part)));
  },

  async sequence(stage, place, { parts }) {
    for (const part of parts) await perform(stage, place, part);
  },

  async attempt(stage, place, { body }) {
    try {
      await perform(stage, place, body);
    } catch (error) {
      stage.expectFailure(error, "an attempt");
    }
  },

  gated: (stage, place, { body }) => stage.functions.gated(place, (inside) => perform(stage, inside, body)),

  override: (stage, place, { tag, body }) =>
    withContext(TAG, tag, () => perform(stage, { ...place, tag }, body)),

  timeout: (stage, place, { ms, body }) => withTimeout(ms, () => perform(stage, place, body)),

  async map(stage, place, plan) {
    const results = await waiting(place.holder, () => map(itemBody(stage, place), ...fanOut(plan, asItIs)));
    const due = plan.items.map(({ id }) => id);
    stage.check(
      String(results) === String(due),
      () => `map has given ${String(results)}, not ${String(due)}`,
    );
  },

  async stream(stage, place, plan) {
    const [items, options] = fanOut(plan, asItIs);
    const stream = mapStream(itemBody(stage, place), items, { ...options, ordered: plan.ordered });
    const seen: number[] = [];
    while (seen.length < plan.takes) {
      const { done, value } = await waiting(place.holder, () => stream.next());
      if (done === true) break;
      seen.push(value);
    }
    await waiting(place.holder, () => stream.return());
    const ids = plan.items.map(({ id }) => id);
    const isRight = plan.ordered
      ? seen.every((id, index) => id === ids[index])
      : new Set(seen).size === seen.length && seen.every((id) => ids.includes(id));
    stage.check(isRight, () => `mapStream has given ${String(seen)}, of ${String(ids)}`);
  },

  async mountEach(stage, place, plan) {
    const [items, options] = fanOut(plan, (item) => [item.id, item] as const);
    await handled(stage, place, plan.handler, async () => {
      const body = itemBody(stage, place);
      const handle = await waiting(place.holder, () => mountEach(body, items, options));
      if (plan.waits) await waiting(place.holder, () => handle.ready());
    });
  },

  async mount(stage, place, { handler, item }) {
    await handled(stage, place, handler, async () => {
      await waiting(place.holder, () => mount(itemBody(stage, place), item));
    });
  },

  async nested(stage, place, { concurrency, abortAfterMs, body }) {
    const { environment } = useContext(GENERATION);
    const app = new App({ name: "nested", environment, concurrency }, () =>
      mainOf(stage, concurrency, (inside) => perform(stage, inside, body)),
    );
    stage.counts.runs += 1;
    const handle = app.run({ signal: stage.signal });
    if (abortAfterMs === Infinity) {
      await handle;
      return;
    }
    // The handle is awaited in the same turn, so that its failure has somebody who hears of it.
    const abort = async (): Promise<void> => {
      await sleep(abortAfterMs);
      stage.counts.aborts += 1;
      handle.abort();
    };
    await all([handle.result(), abort()]);
  },
};

/** Waits for the end of all, then throws the first failure: nothing goes on behind the back of a run. */
async function all(parts: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(parts)).find(({ status }) => status === "rejected");
  if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
}

/** The body of an item, which holds a slot of the run and sees what the caller of the fan-out has set. */
function itemBody(stage: Stage, { tag, run }: Place): (item: ItemPlan) => Promise<number> {
  return async function item({ id, body }) {
    const holder = new Holder(run.slots, run);
    try {
      await inBody(stage, "an item", { tag, run }, () => perform(stage, { run, tag, holder }, body));
      return id;
    } finally {
      holder.end();
    }
  };
}

type FanOut<T> = readonly [Iterable<T> | AsyncIterable<T>, { readonly concurrency: number | undefined }];

function fanOut<T>({ items, concurrency, source }: FanOutPlan, entryOf: (item: ItemPlan) => T): FanOut<T> {
  const entries = items.map(entryOf);
  return [source === "array" ? entries : slowly(entries, source === "failing"), { concurrency }];
}

const asItIs = (item: ItemPlan): ItemPlan => item;

async function* slowly<T>(entries: readonly T[], fails: boolean): AsyncGenerator<T, void, void> {
  for (const entry of entries) {
    await nextTurn();
    yield entry;
  }
  if (fails) throw new PlannedFailure("a source");
}

/** With an exception handler around it, which must hear of planned failures only, where they have happened. */
function handled(stage: Stage, place: Place, handler: Handler, body: () => Promise<void>): Promise<void> {
  return withExceptionHandler((error, { source }) => {
    stage.expectFailure(error, "mounted work");
    // What a handler further inside has thrown is told where the work has failed, which may be under another tag.
    const tag = source === "handler" ? useContext(TAG) : place.tag;
    return inBody(stage, "an exception handler", { ...place, tag }, async () => {
      await sleep(2);
      if (handler === "throws") throw new PlannedFailure("a handler");
    });
  }, body);
}
