import { isSameClock } from "../clock.js";
import type { AmbientScope, Deadline, ScopeListener } from "./ambient.js";

/**
 * A part of a call tree that ends as a whole. It ends in two strengths. *Released*: what waits in it stops waiting,
 * but what runs may go on (a fan-out of which one item has failed). *Aborted*: its signal is aborted too (a run that
 * was aborted, a time limit that passed). Both reach the scopes inside it.
 */
export class Scope implements AmbientScope {
  ended = false;
  reason: unknown = undefined;
  aborted = false;
  abortReason: unknown = undefined;
  readonly deadline: Deadline | undefined;
  /** The scopes inside this one. Open, because a scope of another copy of the package may join and leave. */
  readonly inner = new Set<Scope>();
  readonly #parent: Scope | undefined;
  readonly #listeners = new Set<ScopeListener>();
  #controller: AbortController | undefined;

  /**
   * @param parent - The scope around it, whose end is its end too.
   * @param deadline - When given, the earlier of this and the parent's counts.
   */
  constructor(parent?: Scope, deadline?: Deadline) {
    this.#parent = parent;
    this.deadline = nearest(deadline, parent?.deadline);
    if (parent === undefined) return;
    parent.inner.add(this);
    if (parent.aborted) this.abort(parent.abortReason);
    else if (parent.ended) this.release(parent.reason);
  }

  /** Aborted together with the scope. Made at the first look, so scopes that nobody looks at stay cheap. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(this.abortReason);
    }
    return this.#controller.signal;
  }

  add(listener: ScopeListener): void {
    this.#listeners.add(listener);
  }

  remove(listener: ScopeListener): void {
    this.#listeners.delete(listener);
  }

  /** Ends the waiting in this scope and in those inside it. The first reason stays. */
  release(reason: unknown): void {
    const ended = this.#treeWhere((scope) => !scope.ended);
    // All of them first: who waits in an inner one must not be served by what an outer one gives up.
    for (const scope of ended) scope.markEnded(reason);
    for (const scope of ended) scope.tellEnd();
  }

  /** Releases, and aborts the signals of this scope and of those inside it. */
  abort(reason: unknown): void {
    const aborted = this.#treeWhere((scope) => !scope.aborted);
    for (const scope of aborted) {
      scope.aborted = true;
      scope.abortReason = reason;
    }
    this.release(reason);
    for (const scope of aborted) scope.tellAbort();
  }

  /** A step of `release`. */
  markEnded(reason: unknown): void {
    this.ended = true;
    this.reason = reason;
  }

  /** A step of `release`. */
  tellEnd(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener.scopeEnded(this.reason, this);
  }

  /** A step of `abort`. */
  tellAbort(): void {
    this.#controller?.abort(this.abortReason);
  }

  // Without recursion, for scopes may be nested deeper than calls. What holds of none of the scopes in one that is
  // left out holds of none in it.
  #treeWhere(holds: (scope: Scope) => boolean): Scope[] {
    const found: Scope[] = holds(this) ? [this] : [];
    for (const scope of found) for (const inner of scope.inner) if (holds(inner)) found.push(inner);
    return found;
  }

  /** Forgets the scope around it, when the work in this one is over; keeps a long run from collecting dead scopes. */
  leave(): void {
    this.#parent?.inner.delete(this);
  }
}

function nearest(own: Deadline | undefined, outer: Deadline | undefined): Deadline | undefined {
  if (own === undefined || outer === undefined) return own ?? outer;
  // Times of two clocks cannot be compared; the outer one still ends this scope when it passes.
  return isSameClock(own.clock, outer.clock) && outer.at < own.at ? outer : own;
}
