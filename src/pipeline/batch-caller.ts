import type { Scope, ScopeListener } from "../cancellation/index.js";

/** What a caller waits in: a batch that gathers items, or a call of the body. */
export interface BatchPlace<T> {
  /** The caller waits no longer, for its scope has ended. */
  leave(caller: BatchCaller<T>, reason: unknown): void;
}

/** One call of a batched function. */
export class BatchCaller<T> implements ScopeListener {
  readonly item: T;
  place: BatchPlace<T>;
  /** The caller goes on in its own async context, whoever settles it. */
  readonly promise: Promise<unknown>;
  readonly #scope: Scope | undefined;
  #resolve!: (result: unknown) => void;
  #reject!: (error: unknown) => void;

  constructor(item: T, scope: Scope | undefined, place: BatchPlace<T>) {
    this.item = item;
    this.place = place;
    this.#scope = scope;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    scope?.add(this);
  }

  scopeEnded(reason: unknown): void {
    this.#reject(reason);
    this.place.leave(this, reason);
  }

  /** Of a caller that has left, nobody hears this. */
  resolve(result: unknown): void {
    this.#scope?.remove(this);
    this.#resolve(result);
  }

  reject(error: unknown): void {
    this.#scope?.remove(this);
    this.#reject(error);
  }
}
