import { Deferred } from "../../internal/deferred.js";

/** Lets any number of watchers wait for the next change of a run. However many changes come meanwhile, each sees the last. */
export class RunChanges {
  /** Grows with each change. */
  version = 0;
  #next: Deferred<void> | undefined;

  happened(): void {
    this.version += 1;
    this.#next?.resolve();
    this.#next = undefined;
  }

  /** Resolves at the next change. */
  next(): Promise<void> {
    return (this.#next ??= new Deferred<void>()).promise;
  }
}
