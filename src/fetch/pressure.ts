/** A number for each sending: later ones have larger numbers. */
export type Turn = number;

/** That a call was refused, and what had been sent by then. */
interface Refused {
  readonly call: object;
  readonly at: Turn;
}

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
  /** The latest refusal, and the latest of another call than that one. */
  #refusal: Refused | undefined = undefined;
  #refusalOfAnother: Refused | undefined = undefined;

  /** Counts a sending. */
  send(): Turn {
    this.#lastTurn += 1;
    return this.#lastTurn;
  }

  /** A call was let through. */
  succeeded(turn: Turn): void {
    this.#lastSuccess = Math.max(this.#lastSuccess, turn);
    if (turn > this.#pausedAt) this.#pausesInARow = 0;
  }

  /**
   * Notes that a call was refused.
   *
   * @param call - Who it was.
   * @param before - The last sending of anybody when the same call was refused before; undefined the first time.
   * @returns Whether that is about this call alone: it was refused before, a call that was sent later was let through,
   *   and nobody else has been refused since.
   */
  refused(call: object, before: Turn | undefined): boolean {
    const other = this.#refusal?.call === call ? this.#refusalOfAnother : this.#refusal;
    this.#refusalOfAnother = other;
    this.#refusal = { call, at: this.#lastTurn };
    const wasOtherSince = other !== undefined && other.at >= this.#lastSuccess;
    return before !== undefined && this.#lastSuccess > before && !wasOtherSince;
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

/** The one of a limiter object, for all the fetches of this copy of the package that draw from it. */
export function pressureOf(limiter: object): Pressure {
  const pressure = known.get(limiter) ?? new Pressure();
  known.set(limiter, pressure);
  return pressure;
}
