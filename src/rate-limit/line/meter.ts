/** How late a timer may be and still have its tokens made up for, in milliseconds. */
export const LATE_TIMER_MS = 5;

/** What a meter that cannot answer at once may ask of the line in front of it. */
export interface LineView<C> {
  /** The costs that wait, the head first. */
  costs(): Iterable<C>;
  /** Tells the line that an answer has come: the head may fit now, or its time is known. */
  wake(): void;
  /** Rejects whoever waits now, in their order; the line stays open. */
  dismiss(reason: unknown): void;
}

/**
 * The arithmetic behind a waiting line: what fits when. The line knows order, cancellation and the timer; a meter
 * knows none of these. `C` is a cost: a number of tokens, or an amount for each of several dimensions.
 *
 * A meter whose state lives elsewhere keeps the line that it is attached to. When it is asked about the head it sends
 * one request, for the head and for some of those behind it, answers Infinity, and wakes the line when it knows.
 */
export interface Meter<C> {
  /** Takes `cost` when it fits at `now`, all of it or nothing. Asked only for the head, or while nobody waits. */
  tryTake(cost: C, now: number): boolean;
  /** Milliseconds from `now` until the head fits; 0 when it does, Infinity when that is not known yet. */
  headWaitMs(head: C, now: number): number;
  /** Milliseconds that a newcomer would wait behind everyone in line; a lower bound where it cannot be exact. */
  estimateMs(cost: C, now: number): number;
  /** A cost has joined the end of the line. */
  join(cost: C): void;
  /** A cost is in the line no more: it was taken, or its waiter has left. */
  leave(cost: C): void;
  /** Another cost heads the line from now on; undefined when nobody waits any more. */
  lead(head: C | undefined, now: number): void;
  /** Called once, before anything else. */
  attach?(line: LineView<C>): void;
}

/** A meter in this process. */
export interface LocalMeter<C> extends Meter<C> {
  /** Whether a full bucket has as much. */
  holds(cost: C): boolean;
  /** Grants nothing for `ms` from `now`; of two pauses the one that ends later holds. */
  pause(ms: number, now: number): void;
  resume(now: number): void;
  /** Milliseconds from `now` until the pause ends; 0 when none holds. */
  pausedForMs(now: number): number;
}
