import { currentFrame, type ValueSource } from "../../context/index.js";
import { requireFunction } from "../../internal/checks.js";
import { nameOf } from "../../internal/name-of.js";
import type { AnyBudget, Limiter } from "../../rate-limit/index.js";
import { Batch } from "./batch.js";
import { BatchCall, limitBody } from "./batch-call.js";
import { BatchCaller } from "./batch-caller.js";
import { BatchHome } from "./batch-home.js";
import { type BatchOptions, type BatchRules, resolveBatchOptions } from "./batch-options.js";
import type { AnyFunction, Call } from "../calls/fn-options.js";
import { pipelineFunction } from "../calls/pipeline-function.js";

/**
 * Makes a function of one item out of a function of many: calls made at a time become one call of `f`, and each caller
 * gets its own result, in its own context. A batch goes when it is full, or `maxWaitMs` after its first item, then
 * waits for its slot, then for its tokens. Its items are in the order of the calls.
 *
 * The callers in one environment share batches, and `f` runs in that environment, not in the context of a caller: it
 * sees no `withContext`, no time limit and no abort of theirs. Called outside every environment the function runs in the
 * default one if that is running. A caller whose run is aborted, time limit has passed, or fan-out has failed rejects
 * at once; its item goes out of the batch when `f` is not called yet. The others wait on, and what `f` does goes on.
 *
 * @param f - Gives one result for each item, in the order of the items; may be sync. A result that is a promise settles
 *   its caller as that promise does: `Promise.reject(error)` fails that one. What `f` throws fails all of its callers;
 *   {@link RetryWithSmallerBatch} is tried again in halves.
 * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `f` or an option cannot be.
 * @throws BatchResultError (`BATCH_INVALID`) as a rejection, for another number of results.
 * @throws RetryWithSmallerBatch (`BATCH_TOO_LARGE`), or its cause, as a rejection, when it was thrown for a single item.
 * @example
 * const embed = batched({ maxBatchSize: 100, rateLimit: LIMITER }, (texts: string[]) => client.embed(texts));
 * const vectors = await map(embed, texts);
 */
export function batched<T, R, L extends Limiter | AnyBudget>(
  options: BatchOptions<T, R, L>,
  f: (items: T[]) => PromiseLike<readonly R[]> | readonly R[],
): (item: T) => Promise<Awaited<R>> {
  requireFunction("f", f);
  const batcher = new Batcher(resolveBatchOptions(options), f);
  const add: AnyFunction = (_self: unknown, [item]: [T]) => batcher.add(item);
  return pipelineFunction<AnyFunction>(f, batcher.name, add);
}

/** Puts calls into batches: one that is open for each environment, and one for all that is outside. */
class Batcher<T> {
  readonly name: string;
  readonly #rules: BatchRules;
  readonly #call: Call;
  readonly #open = new Map<ValueSource | undefined, Batch<T>>();

  constructor(rules: BatchRules, f: (items: T[]) => unknown) {
    this.name = rules.name ?? nameOf(f);
    this.#rules = rules;
    this.#call = limitBody(f, this.name, rules);
  }

  add(item: T): Promise<unknown> {
    const frame = currentFrame();
    const scope = frame?.scope;
    if (scope?.ended === true) return Promise.reject(scope.reason);
    const source = frame?.source;
    const batch = this.#open.get(source) ?? this.#make(source);
    try {
      batch.home.admit(frame);
    } catch (error) {
      return Promise.reject(error);
    }
    const caller = new BatchCaller(item, scope, batch);
    batch.callers.add(caller);
    if (batch.callers.size === this.#rules.maxBatchSize) {
      this.#open.delete(source);
      batch.go();
    } else if (batch.callers.size === 1) {
      this.#open.set(source, batch);
      batch.goAfter(this.#rules.maxWaitMs);
    }
    return caller.promise;
  }

  #make(source: ValueSource | undefined): Batch<T> {
    const home = new BatchHome(source);
    const close = (batch: Batch<T>): void => {
      if (this.#open.get(source) === batch) this.#open.delete(source);
    };
    const onGo = (batch: Batch<T>): void => {
      close(batch);
      void new BatchCall(this.#call, home, [...batch.callers]).run().then(() => {
        home.end();
      });
    };
    return new Batch(home, onGo, (batch) => {
      close(batch);
      home.end();
    });
  }
}
