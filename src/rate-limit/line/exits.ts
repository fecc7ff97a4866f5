import { DeadlineHeap } from "../../internal/deadline-heap.js";
import { Departures } from "./departures.js";
import type { ConditionalWaiter } from "./waiter.js";

/** The ways out of a line before one's turn: a signal, the end of a scope, a deadline. */
export class Exits<C, R> {
  readonly #departures: Departures<ConditionalWaiter<C, R>>;
  readonly #deadlines = new DeadlineHeap<ConditionalWaiter<C, R>>((waiter) => !waiter.waits);

  /** @param leave - Takes those out of the line whose signal or scope has ended. */
  constructor(leave: (waiters: Iterable<ConditionalWaiter<C, R>>, reason: unknown) => void) {
    this.#departures = new Departures(leave);
  }

  follow(waiter: ConditionalWaiter<C, R>): void {
    const { signal, scope, maxWaitMs, joinedAt } = waiter;
    if (signal !== undefined) this.#departures.follow(signal, waiter);
    if (scope !== undefined) this.#departures.follow(scope, waiter);
    if (maxWaitMs !== Infinity) this.#deadlines.add(joinedAt + maxWaitMs, waiter);
  }

  unfollow(waiter: ConditionalWaiter<C, R>): void {
    const { signal, scope, maxWaitMs } = waiter;
    if (signal !== undefined) this.#departures.unfollow(signal, waiter);
    if (scope !== undefined) this.#departures.unfollow(scope, waiter);
    if (maxWaitMs !== Infinity) this.#deadlines.noteOver();
  }

  /** The earliest deadline; Infinity when there is none. */
  earliest(): number {
    return this.#deadlines.earliest();
  }

  /** Takes the deadlines out that are at `limit` or before, the earliest first; whose they were. */
  *takeDue(limit: number): Generator<ConditionalWaiter<C, R>, void, void> {
    for (let waiter = this.#deadlines.takeDue(limit); waiter !== undefined;) {
      yield waiter;
      waiter = this.#deadlines.takeDue(limit);
    }
  }
}
