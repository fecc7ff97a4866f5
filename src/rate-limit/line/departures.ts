import type { AmbientScope, ScopeListener } from "../../cancellation/index.js";

/** What can take a waiter out of the line before its turn: the caller's own signal, or the end of its scope. */
export type Source = AbortSignal | AmbientScope;

/**
 * Which waiters follow which signal or scope. There is one listener per source, however many follow it, and none once
 * the last of them has left.
 */
export class Departures<W> implements ScopeListener {
  /** Most signals belong to one call alone, so a set is made only for the second waiter. */
  readonly #followers = new Map<Source, W | Set<W>>();
  readonly #leave: (waiters: Iterable<W>, reason: unknown) => void;
  /** One function for all signals: what a signal of its own costs a call is most of what the call costs. */
  readonly #onAbort = (event: Event): void => {
    const signal = event.target as AbortSignal | null;
    if (signal !== null && this.#followers.has(signal)) this.#end(signal, signal.reason);
    else this.#endAborted();
  };

  /** @param leave - Takes the waiters out of the line; each of them must stop following. */
  constructor(leave: (waiters: Iterable<W>, reason: unknown) => void) {
    this.#leave = leave;
  }

  follow(source: Source, waiter: W): void {
    const known = this.#followers.get(source);
    if (known instanceof Set) {
      known.add(waiter);
      return;
    }
    if (known !== undefined) this.#followers.set(source, new Set([known, waiter]));
    else {
      if (isSignal(source)) source.addEventListener("abort", this.#onAbort);
      else source.add(this);
      this.#followers.set(source, waiter);
    }
  }

  unfollow(source: Source, waiter: W): void {
    const known = this.#followers.get(source);
    if (known instanceof Set && known.delete(waiter) && known.size > 0) return;
    this.#followers.delete(source);
    if (!isSignal(source)) source.remove(this);
    // An aborted signal never fires again, and taking listeners off one by one is most of what an abort costs.
    else if (!source.aborted) source.removeEventListener("abort", this.#onAbort);
  }

  scopeEnded(reason: unknown, scope: AmbientScope): void {
    this.#end(scope, reason);
  }

  /** For signals of another make, which may not be the target of their own event. */
  #endAborted(): void {
    for (const source of this.#followers.keys()) {
      if (isSignal(source) && source.aborted) this.#end(source, source.reason);
    }
  }

  #end(source: Source, reason: unknown): void {
    const known = this.#followers.get(source);
    if (known !== undefined) this.#leave(known instanceof Set ? known : [known], reason);
  }
}

function isSignal(source: Source): source is AbortSignal {
  return "addEventListener" in source;
}
