import type { Answer } from "./store.js";

/** What this process has last heard of the bucket. */
export class HeardBucket {
  epoch = "";
  rate: number;
  #burstWindowSecs: number;
  #level = 0;
  #heardAt = 0;
  #pausedUntil = -Infinity;

  /** As if it were new, with a full bucket. */
  constructor(rate: number, burstWindowSecs: number, now: number) {
    this.rate = rate;
    this.#burstWindowSecs = burstWindowSecs;
    this.#level = this.capacity;
    this.#heardAt = now;
  }

  hear({ epoch, rate, burstWindowSecs, level, pausedForMs }: Answer, now: number): void {
    this.epoch = epoch;
    this.rate = rate;
    this.#burstWindowSecs = burstWindowSecs;
    this.#level = level;
    this.#heardAt = now;
    this.#pausedUntil = now + pausedForMs;
  }

  get capacity(): number {
    return Math.max(1, this.rate * this.#burstWindowSecs);
  }

  /** Tokens at `now`; negative is debt. */
  available(now: number): number {
    return Math.min(this.capacity, this.#level + ((now - this.#heardAt) * this.rate) / 1000);
  }

  /** Milliseconds from `now` until the pause ends; 0 when none holds. */
  pausedForMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now);
  }
}
