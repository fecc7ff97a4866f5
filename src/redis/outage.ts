import type { StoreUnavailableError } from "./errors.js";

/** The shortest and the longest time between two tries, in milliseconds. */
const FIRST_MS = 50;
const LONGEST_MS = 1000;
/** So many deadlines a call that got no answer is waited for before another one is sent behind it. */
const PATIENCE = 10;

/**
 * Whether the store is out of reach, and when it is worth another try. A call without an answer still lies with the
 * client, which sends it once the server is back: more of them would all be carried out then. So the next one waits for
 * its end.
 */
export class Outage {
  /** What the last call failed with; undefined while the store answers. */
  error: StoreUnavailableError | undefined = undefined;
  /** Nothing is sent before this time. */
  until = -Infinity;
  readonly #timeoutMs: number;
  #delayMs = FIRST_MS;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  begin(now: number, error: StoreUnavailableError): void {
    this.error = error;
    this.until = now + (error.isUnanswered ? PATIENCE * this.#timeoutMs : this.#delayMs);
    this.#delayMs = Math.min(LONGEST_MS, this.#delayMs * 2);
  }

  /** The call that was given up has ended. */
  noteEnd(now: number): void {
    this.until = Math.min(this.until, now);
  }

  end(): void {
    this.error = undefined;
    this.until = -Infinity;
    this.#delayMs = FIRST_MS;
  }
}
