import type { RunAbortedError } from "../errors.js";

/** What a fan-out has failed with; wrapped, for `undefined` can be thrown too. */
export interface Failure {
  readonly error: unknown;
}

/** Where the results of one fan-out go. */
export interface Outlet<R> {
  /** Makes a place for the result of an item that starts; called in the order of the items. */
  reserve(): number;
  /** Not called for an item that has failed. */
  put(place: number, result: R): void;
  /** Whether one more item may start. When that changes to yes, the outlet has to advance the fan-out. */
  hasRoom(): boolean;
  /** Why nobody wants results any more. When that is set, the outlet has to advance the fan-out. */
  readonly unwanted: RunAbortedError | undefined;
  /**
   * Nothing more will start. An outlet that has this gives the parent its slot back now, and not only at the end: who
   * waits for this fan-out waits for its starts.
   */
  allStarted?(failure: Failure | undefined): void;
  /** Nothing is in flight any more, and nothing more will start. The last call. */
  end(failure: Failure | undefined): void;
}

/** Keeps all results, in the order in which their items started. */
export class Collection<R> implements Outlet<R> {
  readonly unwanted = undefined;
  readonly #results: R[] = [];
  readonly #resolve: (results: R[]) => void;
  readonly #reject: (error: unknown) => void;

  constructor(resolve: (results: R[]) => void, reject: (error: unknown) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  reserve(): number {
    return this.#results.push(undefined as R) - 1; // in its place at once: an array with holes is slow
  }

  put(place: number, result: R): void {
    this.#results[place] = result;
  }

  hasRoom(): boolean {
    return true;
  }

  end(failure: Failure | undefined): void {
    if (failure === undefined) this.#resolve(this.#results);
    else this.#reject(failure.error);
  }
}
