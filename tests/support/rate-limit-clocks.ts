import type { Clock } from "../../src/clock.js";
import { ManualClock } from "../../src/testing/index.js";

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/**
 * Most timers that one test may start. A line that never comes to rest would else hang the test for good: no time limit
 * ends what never leaves the microtask queue.
 */
const MOST_TIMERS = 20_000;

function checkRest(started: number): void {
  if (started > MOST_TIMERS)
    throw new Error(`The line started ${String(started)} timers and never comes to rest.`);
}

/** A ManualClock that does not let a line go on for ever. */
export class ExactClock extends ManualClock {
  #started = 0;

  override schedule(delayMs: number, callback: () => void): () => void {
    checkRest((this.#started += 1));
    return super.schedule(delayMs, callback);
  }
}

/** How timers miss their time: each in turn comes so many milliseconds late, or early by such a part of its delay. */
export type Misses = { readonly lateMs: readonly number[] } | { readonly earlyParts: readonly number[] };

/** An early timer still lets this part of its delay pass: time moves on a real clock too. */
const LEAST_PART = 0.09;

/**
 * The least that an early timer leaves of its delay, in milliseconds; what would leave less comes on time. Grants may be
 * half a nanosecond early, and whether what is left is above that must not hang on how a double was rounded.
 */
const LEAST_REST_MS = 2e-6;

/**
 * A clock that moves only when told and whose timers come early or late. It counts what is asked of it, so that a test
 * can tell how many timers were armed at once and how long the longest delay was.
 */
export class BadClock implements Clock {
  longestDelayMs = 0;
  mostPending = 0;
  /** Called before each timer that fires. */
  onFire: () => void = () => undefined;
  #now = 0;
  readonly #misses: Misses;
  #scheduled = 0;
  readonly #timers = new Set<Timer>();

  constructor(misses: Misses) {
    this.#misses = misses;
  }

  now(): number {
    return this.#now;
  }

  get pending(): number {
    return this.#timers.size;
  }

  schedule(delayMs: number, callback: () => void): () => void {
    checkRest(this.#scheduled);
    const timer = { at: this.#now + Math.max(delayMs + this.#miss(delayMs), delayMs * LEAST_PART), callback };
    this.#timers.add(timer);
    this.longestDelayMs = Math.max(this.longestDelayMs, delayMs);
    this.mostPending = Math.max(this.mostPending, this.pending);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** Moves the time forward; what falls due on the way fires at its (wrong) time. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#now = Math.max(this.#now, timer.at);
      await this.#fire(timer);
    }
    this.#now = Math.max(this.#now, end);
    await settlePromises();
  }

  /** Goes on until no timer is armed. */
  async finish(): Promise<void> {
    for (let timer = this.#next(Infinity); timer !== undefined; timer = this.#next(Infinity)) {
      this.#now = Math.max(this.#now, timer.at);
      await this.#fire(timer);
    }
  }

  #miss(delayMs: number): number {
    const turn = this.#scheduled++;
    if ("lateMs" in this.#misses) return this.#misses.lateMs[turn % this.#misses.lateMs.length] ?? 0;
    const restMs = delayMs * (this.#misses.earlyParts[turn % this.#misses.earlyParts.length] ?? 0);
    return restMs < LEAST_REST_MS ? 0 : -restMs;
  }

  async #fire(timer: Timer): Promise<void> {
    this.#timers.delete(timer);
    this.onFire();
    timer.callback();
    await settlePromises();
  }

  #next(limit: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= limit && (first === undefined || timer.at < first.at)) first = timer;
    }
    return first;
  }
}

/** A clock whose timers miss their time so, or never. */
export function clockOf(misses: Misses | undefined): ExactClock | BadClock {
  return misses === undefined ? new ExactClock() : new BadClock(misses);
}

/** Awaiting the outcome of a call takes a few turns of the microtask queue. */
export async function settlePromises(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}
