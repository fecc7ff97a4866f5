import { limiterObserver } from "../internal/limiter-observer.js";
import type { StoreUnavailableError } from "./errors.js";

/** The shortest and the longest time between two tries, in milliseconds. */
const FIRST_MS = 50;
const LONGEST_MS = 1000;
/** So many deadlines a probe that got no answer is waited for before another one is sent behind it. */
const PATIENCE = 10;

/**
 * Whether the store is out of reach, and when it is worth another try. A call without an answer may still lie with the
 * client, which sends it once the server is back, or it is lost with its connection, and some clients never say so. So what
 * follows it is a probe, which spends nothing however late it is carried out; its answer tells that the store is back.
 */
export class Outage {
  /** What the last call failed with; undefined while the store answers. */
  error: StoreUnavailableError | undefined = undefined;
  /** Nothing is sent before this time. */
  until = -Infinity;
  readonly #timeoutMs: number;
  #delayMs = FIRST_MS;
  #since = 0;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** A call has failed: the first of an outage, or one that has found out that it goes on. */
  begin(now: number, error: StoreUnavailableError, isProbe: boolean): void {
    const isNew = this.error === undefined;
    if (isNew) this.#since = now;
    this.error = error;
    const patienceMs = isProbe ? PATIENCE * this.#timeoutMs : 0;
    this.until = now + (error.isUnanswered ? patienceMs : this.#delayMs);
    this.#delayMs = Math.min(LONGEST_MS, this.#delayMs * 2);
    if (isNew) limiterObserver()?.storeLost({ limiter: error.limiter, reason: error });
  }

  /** The call that was given up has ended. */
  noteEnd(now: number): void {
    this.until = Math.min(this.until, now);
  }

  /** The store has answered. */
  end(now: number): void {
    const { error } = this;
    this.error = undefined;
    this.until = -Infinity;
    this.#delayMs = FIRST_MS;
    if (error !== undefined)
      limiterObserver()?.storeFound({ limiter: error.limiter, afterMs: now - this.#since });
  }
}
