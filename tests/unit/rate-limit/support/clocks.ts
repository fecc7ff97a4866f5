import { ManualClock } from "../../../../src/testing/index.js";

/** A manual clock that remembers which timers it was asked for. */
export class WatchedClock extends ManualClock {
  readonly delays: number[] = [];
  /** Most timers that were armed at one time. */
  mostPending = 0;

  override schedule(delayMs: number, callback: () => void): () => void {
    this.delays.push(delayMs);
    const cancel = super.schedule(delayMs, callback);
    this.mostPending = Math.max(this.mostPending, this.pending);
    return cancel;
  }
}

/** A manual clock whose timers fire early or late, as those of a platform do. */
export class SkewedClock extends ManualClock {
  readonly #skewMs: number;

  /** @param skewMs - How much too late; negative is too early, though never by more than half of the delay. */
  constructor(skewMs: number) {
    super();
    this.#skewMs = skewMs;
  }

  override schedule(delayMs: number, callback: () => void): () => void {
    return super.schedule(Math.max(delayMs / 2, delayMs + this.#skewMs), callback);
  }
}
