import { InvalidArgumentError } from "../errors.js";
import { requireObject, requireSignal } from "../internal/checks.js";

export interface AcquireOptions {
  /** Takes the call out of the line when it aborts; it then rejects with the signal's reason and spends nothing. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The longest wait, in milliseconds from 0 up. A call that is known to wait longer fails at once; one whose wait
   * grows later fails when this time is over. Default: no limit.
   */
  readonly maxWaitMs?: number | undefined;
}

/** What a pipeline needs of a limiter, whether it lives in this process or in a store. */
export interface Limiter {
  /**
   * Waits until `n` tokens are free, then takes them. Calls are served in the order in which they were made.
   *
   * @param n - Tokens, an integer from 0 up. Default 1.
   */
  acquire(n?: number, options?: AcquireOptions): Promise<void>;
}

/** Throws for options of `acquire` that nobody can mean. */
export function checkAcquireOptions(options: AcquireOptions): void {
  const { signal, maxWaitMs } = requireObject("options", options);
  if (maxWaitMs !== undefined && !(typeof maxWaitMs === "number" && maxWaitMs >= 0)) {
    throw new InvalidArgumentError("maxWaitMs", "a number of milliseconds from 0 up", maxWaitMs);
  }
  requireSignal(signal);
}
