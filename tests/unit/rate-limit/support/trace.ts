import type { Clock } from "../../../../src/clock.js";

/** Writes down what happens to promises, in order, with the time of it: "W t1000", or "W failed t1000". */
export class Trace {
  readonly events: string[] = [];
  readonly #reasons = new Map<string, unknown>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  follow(label: string, promise: Promise<unknown>): void {
    promise.then(
      () => {
        this.events.push(`${label} ${this.#time()}`);
      },
      (reason: unknown) => {
        this.#reasons.set(label, reason);
        this.events.push(`${label} failed ${this.#time()}`);
      },
    );
  }

  /** Why the promise of that label was rejected. */
  reasonOf(label: string): unknown {
    if (!this.#reasons.has(label)) throw new Error(`${label} was not rejected: ${this.events.join(", ")}`);
    return this.#reasons.get(label);
  }

  // To the nanosecond: doubles cannot hold 1000/3.
  #time(): string {
    return `t${String(Math.round(this.#clock.now() * 1e6) / 1e6)}`;
  }
}
