import { observeLimiters } from "../../src/index.js";
import type { CountedClock } from "./counted-clock.js";

/** How late a timer may be without loss; a line makes up for as much. */
const LATE_SECS = 0.005;

/** The bound of one bucket: in every window of `w` seconds at most `max(B, n) + r * (w + 5 ms)` tokens. */
export class GrantLog {
  readonly #name: string;
  readonly #rate: number;
  readonly #capacity: number;
  readonly #fault: (text: string) => void;
  #granted = 0;
  #largest = 0;
  /** The least of `granted - rate * time` right before a grant: where the worst window begins. */
  #least = Infinity;

  constructor(name: string, rate: number, capacity: number, fault: (text: string) => void) {
    this.#name = name;
    this.#rate = rate;
    this.#capacity = capacity;
    this.#fault = fault;
  }

  granted(tokens: number, seconds: number): void {
    this.#largest = Math.max(this.#largest, tokens);
    this.#least = Math.min(this.#least, this.#granted - this.#rate * seconds);
    this.#granted += tokens;
    const used = this.#granted - this.#rate * seconds - this.#least;
    const allowed = Math.max(this.#capacity, this.#largest) + this.#rate * LATE_SECS;
    if (used > allowed + 1e-6) {
      this.#fault(
        `limiter ${this.#name} has granted ${String(used)} above its rate; ${String(allowed)} are allowed`,
      );
    }
  }

  refunded(tokens: number): void {
    this.#granted -= tokens;
  }
}

/** Hears of every grant of the process, and holds it against the bound of its limiter. */
export class GrantLogs {
  readonly #logs = new Map<string, GrantLog>();
  readonly #clock: CountedClock;
  readonly #fault: (text: string) => void;
  #stopWatching: (() => void) | undefined;

  constructor(clock: CountedClock, fault: (text: string) => void) {
    this.#clock = clock;
    this.#fault = fault;
  }

  watch(): void {
    this.#stopWatching = observeLimiters({
      granted: ({ limiter, cost }) => {
        // A limiter reads its clock, then grants by that reading.
        const seconds = this.#clock.latest / 1_000;
        if (typeof cost === "number") this.#logs.get(limiter)?.granted(cost, seconds);
        else {
          for (const [dimension, tokens] of Object.entries(cost as Record<string, number>)) {
            this.#logs.get(`${limiter}/${dimension}`)?.granted(tokens, seconds);
          }
        }
      },
    });
  }

  unwatch(): void {
    this.#stopWatching?.();
  }

  /** @param name - Of the limiter; for a budget `limiter/dimension`. */
  add(name: string, rate: number, capacity: number): void {
    this.#logs.set(name, new GrantLog(name, rate, capacity, this.#fault));
  }

  remove(name: string): void {
    this.#logs.delete(name);
  }

  refunded(name: string, tokens: number): void {
    this.#logs.get(name)?.refunded(tokens);
  }
}
