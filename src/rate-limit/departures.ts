import type { AmbientScope, ScopeListener } from "../cancellation/index.js";
import { Queue, QueueNode } from "../internal/queue.js";

/** What can take a waiter out of the line before its turn: the caller's own signal, or the end of its scope. */
export type Source = AbortSignal | AmbientScope;

/**
 * Which waiters follow which signal or scope. There is one listener per source, however many follow it, and none once
 * the last of them has left.
 */
export class Departures<W> {
  readonly #groups = new Map<Source, Group<W>>();
  readonly #leave: (group: Iterable<W>, reason: unknown) => void;

  /** @param leave - Takes the waiters out of the line; each of them must stop following. */
  constructor(leave: (group: Iterable<W>, reason: unknown) => void) {
    this.#leave = leave;
  }

  follow(source: Source, waiter: W): Membership<W> {
    let group = this.#groups.get(source);
    if (group === undefined) {
      group = new Group(source, this.#leave);
      this.#groups.set(source, group);
      group.listen();
    }
    const membership = new Membership(waiter, group);
    group.push(membership);
    return membership;
  }

  unfollow(membership: Membership<W>): void {
    const { group } = membership;
    group.remove(membership);
    if (group.head !== undefined) return;
    this.#groups.delete(group.source);
    group.unlisten();
  }
}

/** One waiter among those that follow one source. */
export class Membership<W> extends QueueNode {
  readonly waiter: W;
  readonly group: Group<W>;

  constructor(waiter: W, group: Group<W>) {
    super();
    this.waiter = waiter;
    this.group = group;
  }
}

class Group<W> extends Queue<Membership<W>> implements ScopeListener {
  readonly source: Source;
  readonly #leave: (group: Iterable<W>, reason: unknown) => void;
  // A function, for Node wraps a listener that is an object in an async one: a promise for each abort.
  readonly #onAbort = (): void => {
    this.#leave(this.#waiters(), (this.source as AbortSignal).reason);
  };

  constructor(source: Source, leave: (group: Iterable<W>, reason: unknown) => void) {
    super();
    this.source = source;
    this.#leave = leave;
  }

  listen(): void {
    if (isSignal(this.source)) this.source.addEventListener("abort", this.#onAbort);
    else this.source.add(this);
  }

  unlisten(): void {
    if (!isSignal(this.source)) this.source.remove(this);
    // An aborted signal never fires again, and taking listeners off one by one is most of what an abort costs.
    else if (!this.source.aborted) this.source.removeEventListener("abort", this.#onAbort);
  }

  scopeEnded(reason: unknown): void {
    this.#leave(this.#waiters(), reason);
  }

  *#waiters(): Generator<W, void, void> {
    for (const { waiter } of this.drain()) yield waiter;
  }
}

/** Whether it has ended, told everyone yet or not. */
export function hasEnded(source: Source): boolean {
  return isSignal(source) ? source.aborted : source.ended;
}

function isSignal(source: Source): source is AbortSignal {
  return "addEventListener" in source;
}
