import { Scope } from "../../cancellation/index.js";
import { runInFrame } from "../../context/index.js";
import { isTidegateError } from "../../errors.js";
import type { BatchCaller, BatchPlace } from "./batch-caller.js";
import type { BatchHome } from "./batch-home.js";
import type { BatchRules } from "./batch-options.js";
import { BatchResultError } from "../errors.js";
import type { AnyFunction, Call } from "../calls/fn-options.js";
import { limitCalls } from "../calls/limited-call.js";

/** The body of a batched function, in its limits; called with the BatchCall that it is for. */
export function limitBody(body: AnyFunction, name: string, { rate, ...rules }: BatchRules): Call {
  const limited = async (batch: BatchCall<unknown>): Promise<unknown[]> => {
    const items = batch.begin();
    const count = items.length; // the body may do what it likes with its array
    return resultsOf((await body(items)) as unknown, name, count);
  };
  return limitCalls(limited, {
    ...rules,
    name,
    rate: rate && {
      key: rate.key,
      cost: (batch) => rate.cost((batch as BatchCall<unknown>).waitingItems()),
      settle:
        rate.settle &&
        ((results, batch) => rate.settle?.(results, (batch as BatchCall<unknown>).calledItems())),
    },
  });
}

function resultsOf(given: unknown, name: string, count: number): unknown[] {
  const results: unknown[] | undefined = Array.isArray(given) ? [...(given as unknown[])] : undefined;
  for (const result of results ?? []) {
    // It may be for a caller that has left, or for nobody: then nobody else handles its failure.
    if (result instanceof Promise) result.then(undefined, () => undefined);
  }
  if (results?.length !== count) throw new BatchResultError(name, count, given);
  return results;
}

/** One call of the body: its items are those of the callers that wait when the body begins. */
export class BatchCall<T> implements BatchPlace<T> {
  readonly #call: Call;
  readonly #home: BatchHome;
  readonly #scope: Scope;
  readonly #waiting: Set<BatchCaller<T>>;
  /** Those that the body was called for, in the order of the items. */
  #called: readonly BatchCaller<T>[] | undefined;

  constructor(call: Call, home: BatchHome, callers: readonly BatchCaller<T>[]) {
    this.#call = call;
    this.#home = home;
    this.#scope = new Scope(home.scope);
    this.#waiting = new Set(callers);
    for (const caller of callers) caller.place = this;
  }

  /** Settles every caller. Never rejects. */
  run(): Promise<void> {
    return runInFrame(this.#home.frame(this.#scope), async () => {
      try {
        const results = (await this.#call(undefined, [this])) as unknown[];
        this.#called?.forEach((caller, place) => {
          caller.resolve(results[place]);
        });
      } catch (error) {
        await this.#fail(error);
      } finally {
        this.#scope.leave();
      }
    });
  }

  /** The items as things stand, while the body is not called yet. */
  waitingItems(): T[] {
    return itemsOf(this.#waiting);
  }

  calledItems(): T[] {
    return itemsOf(this.#called ?? []);
  }

  /** The body is called now. From here on, who leaves leaves alone. */
  begin(): T[] {
    if (this.#waiting.size === 0) throw this.#scope.reason;
    this.#called = [...this.#waiting];
    return this.calledItems();
  }

  leave(caller: BatchCaller<T>, reason: unknown): void {
    this.#waiting.delete(caller);
    // Nobody wants the slot and the tokens any more.
    if (this.#waiting.size === 0 && this.#called === undefined) this.#scope.release(reason);
  }

  async #fail(error: unknown): Promise<void> {
    const waiting = [...this.#waiting];
    const size = this.#called?.length ?? waiting.length;
    const isTooLarge = isTidegateError(error, "BATCH_TOO_LARGE");
    if (isTooLarge && size > 1) {
      const middle = Math.ceil(waiting.length / 2);
      const halves = [waiting.slice(0, middle), waiting.slice(middle)].filter(({ length }) => length > 0);
      await Promise.all(halves.map((half) => new BatchCall(this.#call, this.#home, half).run()));
      return;
    }
    const reason = isTooLarge && error.cause !== undefined ? error.cause : error;
    for (const caller of waiting) caller.reject(reason);
  }
}

function itemsOf<T>(callers: Iterable<BatchCaller<T>>): T[] {
  return Array.from(callers, ({ item }) => item);
}
