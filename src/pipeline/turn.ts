import { systemClock } from "../clock.js";

const LONGEST_TURN_MS = 20;
/** Reading the clock costs as much as a trivial step, so it is read once in so many. */
const STEPS_PER_READING = 16;

/** Tells a loop that never waits when it has kept everything else in the process waiting for long enough. */
export class Turn {
  #steps = 0;
  #since = 0;

  /** Call it once a step. */
  isLong(): boolean {
    this.#steps += 1;
    if (this.#steps === 1) this.#since = systemClock.now();
    return this.#steps % STEPS_PER_READING === 0 && systemClock.now() - this.#since >= LONGEST_TURN_MS;
  }
}

/** Calls `goOn` when the event loop has had its turn. On the system's clock, for no other one drives that loop. */
export function afterTurn(goOn: () => void): void {
  systemClock.schedule(0, goOn);
}
