/**
 * How many wait, and how long all of them together have waited. The sum needs no time per waiter: between two changes
 * it grows by the number of those in line.
 */
export class Census {
  waiting = 0;
  #sumMs = 0;
  #changedAt = 0;

  /** Counts one more (1) or one less (-1) from `now` on. */
  change(by: 1 | -1, now: number): void {
    this.#sumMs = this.waitedMs(now);
    this.#changedAt = now;
    this.waiting += by;
  }

  /** Milliseconds up to `now`, those still in line included. */
  waitedMs(now: number): number {
    return this.#sumMs + this.waiting * (now - this.#changedAt);
  }
}
