import type { Scope, ScopeListener } from "../../cancellation/index.js";
import { Deferred } from "../../internal/deferred.js";

/** What a caller waits in: a batch that gathers items, or a call of the body. */
export interface BatchPlace<T> {
  /** The caller waits no longer, for its scope has ended. */
  leave(caller: BatchCaller<T>, reason: unknown): void;
}

/** One call of a batched function. */
export class BatchCaller<T> implements ScopeListener {
  readonly item: T;
  place: BatchPlace<T>;
  readonly #scope: Scope | undefined;
  readonly #result = new Deferred<unknown>();

  constructor(item: T, scope: Scope | undefined, place: BatchPlace<T>) {
    this.item = item;
    this.place = place;
    this.#scope = scope;
    scope?.add(this);
  }

  /** The caller goes on in its own async context, whoever settles it. */
  get promise(): Promise<unknown> {
    return this.#result.promise;
  }

  scopeEnded(reason: unknown): void {
    this.#result.reject(reason);
    this.place.leave(this, reason);
  }

  /** Of a caller that has left, nobody hears this. */
  resolve(result: unknown): void {
    this.#scope?.remove(this);
    this.#result.resolve(result);
  }

  reject(error: unknown): void {
    this.#scope?.remove(this);
    this.#result.reject(error);
  }
}
