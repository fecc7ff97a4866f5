/** A number for each sending: later ones have larger numbers. */
export type Turn = number;

/**
 * What the answers to all calls that draw from one limiter say together. It tells a budget that is used up from a
 * request that nobody wants, and one event from many.
 */
export class Pressure {
  #lastTurn: Turn = 0;
  /** The last sending before the latest pause. Whatever was sent later was sent after it. */
  #pausedAt: Turn = 0;
  #lastSuccess: Turn = 0;
  #pausesInARow = 0;

  /** Counts a sending. */
  send(): Turn {
    this.#lastTurn += 1;
    return this.#lastTurn;
  }

  /** A call was answered as it should be. */
  succeeded(turn: Turn): void {
    this.#lastSuccess = Math.max(this.#lastSuccess, turn);
    if (turn > this.#pausedAt) this.#pausesInARow = 0;
  }

  /** Whether a call that was sent after `turn` has succeeded. */
  hasSucceededSince(turn: Turn): boolean {
    return this.#lastSuccess > turn;
  }

  /** Whether it was sent before the latest pause: then what it was refused for is what the pause is for. */
  isBeforePause(turn: Turn): boolean {
    return turn <= this.#pausedAt;
  }

  /** The last sending so far. */
  get now(): Turn {
    return this.#lastTurn;
  }

  /**
   * Notes a pause for a refusal.
   *
   * @param turn - The sending that was refused.
   * @returns How many pauses in a row there were before it, without a success in between. One that goes on for what was
   *   sent before it is still the same.
   */
  pause(turn: Turn): number {
    if (!this.isBeforePause(turn)) this.#pausesInARow += 1;
    this.#pausedAt = this.#lastTurn;
    return this.#pausesInARow - 1;
  }
}

const known = new WeakMap<object, Pressure>();

/** The one of a limiter, for all the fetches that draw from it. */
export function pressureOf(limiter: object): Pressure {
  const pressure = known.get(limiter) ?? new Pressure();
  known.set(limiter, pressure);
  return pressure;
}
