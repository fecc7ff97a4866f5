import type { Clock } from "../../clock.js";
import { MAX_DELAY_MS } from "../../clock.js";

// The shortest delay asked for, in milliseconds: rounding must not make a delay that does not move the clock.
const LEAST_DELAY_MS = 2.5e-7;

/** The one timer of a line. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: (now: number) => void;
  #cancel: (() => void) | undefined = undefined;
  #at = Infinity;

  /** @param ring - Called when the alarm goes off, early perhaps. */
  constructor(clock: Clock, ring: (now: number) => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /**
   * Makes the alarm go off at `at` at the latest. One that is set for an earlier time stays: whoever is called early
   * asks for the rest, which is cheaper than to cancel and set a timer at every change.
   */
  set(at: number, now: number): void {
    if (this.#cancel !== undefined) {
      if (this.#at <= at) return;
      this.clear();
    }
    const least = LEAST_DELAY_MS + Math.abs(now) * 2 * Number.EPSILON;
    const delay = Math.min(Math.max(at - now, least), MAX_DELAY_MS);
    this.#at = now + delay;
    let hasRung = false;
    const cancel = this.#clock.schedule(delay, () => {
      hasRung = true;
      this.#cancel = undefined;
      this.#ring(this.#clock.now());
    });
    // A clock that skips the time calls at once, and the next alarm is set already.
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- set by the callback
    if (!hasRung) this.#cancel = cancel;
  }

  clear(): void {
    const cancel = this.#cancel;
    this.#cancel = undefined;
    cancel?.();
  }
}
