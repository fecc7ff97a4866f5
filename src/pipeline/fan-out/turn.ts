import { systemClock } from "../../clock.js";

const LONGEST_TURN_MS = 20;
/** Reading the clock costs as much as a trivial step, so it is read once in so many. */
const STEPS_PER_READING = 16;

/**
 * Tells work that goes from one step to the next without the event loop, also by way of promises that are settled
 * already, when it has kept everything else in the process waiting for long enough.
 */
export class Turn {
  /** Nothing is to go on now: the event loop has its turn. */
  isResting = false;
  #steps = 0;
  #since = 0;
  /** Set while a timer is armed that fires when the event loop gets its turn. */
  #cancel: (() => void) | undefined;

  /** Call it once a step. */
  isLong(): boolean {
    this.#steps += 1;
    if (this.#steps % STEPS_PER_READING !== 0) return false;
    const now = systemClock.now();
    if (this.#cancel === undefined) {
      this.#since = now;
      this.#cancel = systemClock.schedule(0, () => {
        this.#cancel = undefined;
      });
    }
    return now - this.#since >= LONGEST_TURN_MS;
  }

  /** Advances `work` when the event loop has had its turn. On the system's clock, for no other one drives that loop. */
  rest(work: { advance(): void }): void {
    if (this.isResting) return;
    this.isResting = true;
    systemClock.schedule(0, () => {
      this.isResting = false;
      work.advance();
    });
  }

  /** The work is over. */
  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
