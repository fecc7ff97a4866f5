/**
 * A source of time: reading it and waiting for it, in one interface, so that both can be replaced together.
 */
export interface Clock {
  /**
   * Reads the time in milliseconds; fractions are welcome. It never goes back. The origin is arbitrary: only
   * differences between two readings of one clock mean something.
   */
  now(): number;
  /**
   * Calls `callback` once, when at least `delayMs` have passed.
   *
   * @param delayMs - Milliseconds from now, 0 to 2,147,483,647.
   * @returns Cancels the call. Calling it late or twice does nothing.
   */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** The longest delay that timers take: above it they fire at once. */
export const MAX_DELAY_MS = 2 ** 31 - 1;

const SYSTEM = Symbol.for("tidegate/system-clock");

/**
 * The monotonic clock of the platform. `performance` and `setTimeout` are looked up at each call, so that timers
 * faked after the import are obeyed.
 */
export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(delayMs, callback) {
    // Timers drop fractions, so a bare 16.7 would fire at 16.
    const timer = setTimeout(callback, Math.ceil(delayMs));
    return () => {
      clearTimeout(timer);
    };
  },
  [SYSTEM]: true,
} as Clock;

/** Milliseconds since 1970, by the clock on the wall: for dates that others write, and for nothing else. */
export function wallClockMs(): number {
  return Date.now();
}

/** Whether times read from one can be compared with times read from the other. */
export function isSameClock(a: Clock, b: Clock): boolean {
  // Each copy of the package has a system clock object of its own; all of them read the same time.
  return a === b || (SYSTEM in a && SYSTEM in b);
}
