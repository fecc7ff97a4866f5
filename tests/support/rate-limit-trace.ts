import type { Shape } from "./rate-limit-exact-bucket.js";

interface Change extends Shape {
  readonly at: number;
}

interface Entry {
  readonly at: number;
  /** Tokens granted; below 0 tokens that came back. */
  readonly tokens: number;
}

/** Rounding of the doubles that a bound is computed with. */
const RELATIVE_ERROR = 1e-9;

/** What was granted when, and which rate held; for the laws that can be told from these alone. */
export class Trace {
  readonly #entries: Entry[] = [];
  readonly #changes: Change[];

  constructor(shape: Shape, at: number) {
    this.#changes = [{ ...shape, at }];
  }

  grant(at: number, tokens: number): void {
    this.#entries.push({ at, tokens });
  }

  refund(at: number, tokens: number): void {
    if (tokens > 0) this.#entries.push({ at, tokens: -tokens });
  }

  reshape(shape: Shape, at: number): void {
    this.#changes.push({ ...shape, at });
  }

  /**
   * Law 2: throws when any window between two grants holds more than it may.
   *
   * @param lateMs - Milliseconds of the rate that are allowed on top.
   */
  checkBound(lateMs: number): void {
    for (const [index, first] of this.#entries.entries()) {
      if (first.tokens <= 0) continue;
      let sum = 0;
      let largest = 0;
      for (const entry of this.#entries.slice(index)) {
        sum += entry.tokens;
        largest = Math.max(largest, entry.tokens);
        this.#checkWindow(first.at, entry.at, sum, largest, lateMs);
      }
    }
  }

  #checkWindow(from: number, to: number, sum: number, largest: number, lateMs: number): void {
    let most = largest;
    let gained = 0;
    let fastest = 0;
    for (const [index, { at, rate, capacity }] of this.#changes.entries()) {
      const end = this.#changes[index + 1]?.at ?? Infinity;
      if (end < from || at > to) continue;
      most = Math.max(most, capacity);
      fastest = Math.max(fastest, rate);
      gained += (Math.max(0, Math.min(end, to) - Math.max(at, from)) * rate) / 1000;
    }
    // A nanosecond of the rate, because that is what "exact" means here.
    const bound = (most + gained + (fastest * (lateMs + 1e-6)) / 1000) * (1 + RELATIVE_ERROR);
    if (sum > bound) {
      throw new Error(
        `Between ${String(from)} and ${String(to)} ms ${String(sum)} tokens were granted; at most ${String(bound)} may be.`,
      );
    }
  }
}
