import { InvalidArgumentError } from "../errors.js";
import { requireObject, requireSignal } from "../internal/checks.js";
import type { Permit } from "./permit.js";

/** How long a call of `acquire` waits, and what ends its wait. */
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

/** What a pipeline needs of a budget of several dimensions, whether it lives in this process or in a store. */
export interface Budget<D extends string> {
  /**
   * Waits until every dimension has what is asked of it, then takes it from all of them. Calls are served in the order in
   * which they were made.
   *
   * @param costs - Tokens of each dimension, integers from 0 up. One that is not named costs nothing.
   */
  acquire(costs: Partial<Record<D, number | undefined>>, options?: AcquireOptions): Promise<Permit<D>>;
}

/** Throws for options of `acquire` that nobody can mean. */
export function checkAcquireOptions(options: AcquireOptions): void {
  const { signal, maxWaitMs } = requireObject("options", options);
  if (maxWaitMs !== undefined && !(typeof maxWaitMs === "number" && maxWaitMs >= 0)) {
    throw new InvalidArgumentError("maxWaitMs", "a number of milliseconds from 0 up", maxWaitMs);
  }
  requireSignal(signal);
}
