import type { Clock } from "../clock.js";

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

// Awaiting a chain of promises takes a few turns of the microtask queue; a whole pipeline step takes some dozens.
const SETTLE_TURNS = 100;

/**
 * A clock that moves only when told, for tests of anything that takes a {@link Clock}.
 *
 * @example
 * const clock = new ManualClock();
 * const limiter = new RateLimiter({ maxRowsPerSecond: 1, clock });
 * await limiter.acquire();
 * const second = limiter.acquire();
 * await clock.advance(1_000);
 * await second;
 */
export class ManualClock implements Clock {
  #now = 0;
  readonly #timers = new Set<Timer>();

  /** The time in milliseconds; 0 at first. */
  now(): number {
    return this.#now;
  }

  /** Timers that are armed and have not fired. */
  get pending(): number {
    return this.#timers.size;
  }

  schedule(delayMs: number, callback: () => void): () => void {
    if (!(Number.isFinite(delayMs) && delayMs >= 0 && delayMs <= 2 ** 31 - 1)) {
      throw new RangeError(`A timer takes 0 to 2147483647 ms; got ${String(delayMs)}.`);
    }
    const timer: Timer = { at: this.#now + delayMs, callback };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /**
   * Moves the time forward and runs what falls due on the way, in order of time, then of scheduling; promises settle
   * before the first timer, between two timers and at the end.
   *
   * @param ms - Milliseconds from 0 up; fractions are fine.
   */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0 && Number.isFinite(ms))) {
      throw new RangeError(`advance() takes a finite number of milliseconds from 0 up; got ${String(ms)}.`);
    }
    const end = this.#now + ms;
    await settlePromises();
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#timers.delete(timer);
      this.#now = Math.max(this.#now, timer.at);
      timer.callback();
      await settlePromises();
    }
    this.#now = Math.max(this.#now, end);
  }

  #next(end: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= end && (first === undefined || timer.at < first.at)) first = timer;
    }
    return first;
  }
}

async function settlePromises(): Promise<void> {
  for (let turn = 0; turn < SETTLE_TURNS; turn += 1) await Promise.resolve();
}
