import { DeadlineHeap } from "../../internal/deadline-heap.js";
import { Departures } from "./departures.js";
import type { ConditionalWaiter } from "./waiter.js";

/** What a waiter says of how it may leave. */
type Leaver = Pick<
  ConditionalWaiter<unknown, unknown>,
  "signal" | "scope" | "maxWaitMs" | "joinedAt" | "waits"
>;

/** The ways out of a line before one's turn: a signal, the end of a scope, a deadline. */
export class Exits<W extends Leaver> {
  readonly #departures: Departures<W>;
  readonly #deadlines = new DeadlineHeap<W>((waiter) => !waiter.waits);

  /** @param leave - Takes those out of the line whose signal or scope has ended. */
  constructor(leave: (waiters: Iterable<W>, reason: unknown) => void) {
    this.#departures = new Departures(leave);
  }

  open(waiter: W): void {
    const { signal, scope, maxWaitMs, joinedAt } = waiter;
    if (signal !== undefined) this.#departures.follow(signal, waiter);
    if (scope !== undefined) this.#departures.follow(scope, waiter);
    if (maxWaitMs !== Infinity) this.#deadlines.add(joinedAt + maxWaitMs, waiter);
  }

  close(waiter: W): void {
    const { signal, scope, maxWaitMs } = waiter;
    if (signal !== undefined) this.#departures.unfollow(signal, waiter);
    if (scope !== undefined) this.#departures.unfollow(scope, waiter);
    if (maxWaitMs !== Infinity) this.#deadlines.noteOver();
  }

  /** The earliest deadline; Infinity when there is none. */
  earliest(): number {
    return this.#deadlines.earliest();
  }

  /** Takes the earliest deadline out when it is at `limit` or before; whose it was. */
  takeDue(limit: number): W | undefined {
    return this.#deadlines.takeDue(limit);
  }
}
