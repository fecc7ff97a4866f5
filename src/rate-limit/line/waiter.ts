import type { AmbientScope } from "../../cancellation/index.js";
import { QueueNode } from "../../internal/queue.js";

type Resolve<R> = (value: R | PromiseLike<R>) => void;

let kept: Resolve<never> = ignore;

// Shared by all waiters: a function for each would be a third of what joining the line allocates.
function keepResolve(resolve: Resolve<never>): void {
  kept = resolve;
}

/** Makes a promise that is resolved with it reject. A rejected promise would be tracked as unhandled for a while. */
class Rejection {
  readonly #reason: unknown;

  constructor(reason: unknown) {
    this.#reason = reason;
  }

  then(_onValue: unknown, onError: (reason: unknown) => void): void {
    onError(this.#reason);
  }
}

/** A caller in line. Kept small: a backlog holds very many. */
export class Waiter<C, R> extends QueueNode {
  readonly cost: C;
  readonly promise: Promise<R>;
  readonly #resolve: Resolve<R>;

  constructor(cost: C) {
    super();
    this.cost = cost;
    this.promise = new Promise<R>(keepResolve);
    this.#resolve = kept as Resolve<R>;
    kept = ignore;
  }

  grant(receipt: R): void {
    this.#resolve(receipt);
  }

  /** @param handled - Marks the rejection as handled: one of many at once must not end the process. */
  reject(reason: unknown, handled: boolean): void {
    // Resolving with what rejects saves a second function per waiter, a fifth of its memory.
    this.#resolve(new Rejection(reason) as unknown as PromiseLike<R>);
    if (handled) this.promise.catch(ignore);
  }
}

/** A caller that may leave before its turn. */
export class ConditionalWaiter<C, R> extends Waiter<C, R> {
  readonly joinedAt: number;
  readonly maxWaitMs: number;
  readonly signal: AbortSignal | undefined;
  readonly scope: AmbientScope | undefined;

  constructor(
    cost: C,
    joinedAt: number,
    maxWaitMs: number,
    signal: AbortSignal | undefined,
    scope: AmbientScope | undefined,
  ) {
    super(cost);
    this.joinedAt = joinedAt;
    this.maxWaitMs = maxWaitMs;
    this.signal = signal;
    this.scope = scope;
  }

  /** Whether it is still in line. */
  get waits(): boolean {
    return this.next !== undefined;
  }

  /** The signal or scope that has ended already, but has not come to this waiter yet. */
  get endedBy(): { readonly reason: unknown } | undefined {
    if (this.signal?.aborted === true) return this.signal;
    return this.scope?.ended === true ? this.scope : undefined;
  }
}

/** A caller whose wait somebody watches. */
class WatchedWaiter<C, R> extends ConditionalWaiter<C, R> {
  /** Stands for the caller, to those who watch. */
  readonly call = {};
}

/** Makes a waiter, as small as it can be. @param isWatched - Whether somebody wants to know how long it waits. */
export function makeWaiter<C, R>(
  cost: C,
  now: number,
  maxWaitMs: number,
  signal: AbortSignal | undefined,
  scope: AmbientScope | undefined,
  isWatched: boolean,
): Waiter<C, R> {
  if (isWatched) return new WatchedWaiter(cost, now, maxWaitMs, signal, scope);
  if (signal === undefined && scope === undefined && maxWaitMs === Infinity) return new Waiter(cost);
  return new ConditionalWaiter(cost, now, maxWaitMs, signal, scope);
}

export function isConditional<C, R>(waiter: Waiter<C, R>): waiter is ConditionalWaiter<C, R> {
  return waiter instanceof ConditionalWaiter;
}

export function waitOf<C, R>(waiter: Waiter<C, R>, now: number): number {
  return isConditional(waiter) ? now - waiter.joinedAt : 0;
}

export function callOf<C, R>(waiter: Waiter<C, R>): object | undefined {
  return waiter instanceof WatchedWaiter ? waiter.call : undefined;
}

function ignore(): void {
  // Nothing to do: whoever awaits the promise sees the rejection all the same.
}
