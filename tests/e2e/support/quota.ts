/** What a service allows: a sustained rate, and a burst on top. */
export interface Allowance {
  readonly perSecond: number;
  readonly burst: number;
}

/** A token bucket as a service keeps it, on its own clock, and knowing nothing of tidegate. */
export class ServiceQuota {
  readonly allowance: Allowance;
  #level: number;
  #at = performance.now();

  constructor(allowance: Allowance) {
    this.allowance = allowance;
    this.#level = allowance.burst;
  }

  get level(): number {
    const { perSecond, burst } = this.allowance;
    const now = performance.now();
    this.#level = Math.min(burst, this.#level + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    return this.#level;
  }

  take(count: number): void {
    this.#level = this.level - count;
  }

  /** Milliseconds until there are `count`. */
  waitMs(count: number): number {
    return (Math.max(0, count - this.level) / this.allowance.perSecond) * 1000;
  }
}
