import { InvalidArgumentError } from "../errors.js";

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

/** The error for options of `acquire` that nobody can mean; undefined when they are fine. */
export function refuseOptions(options: AcquireOptions): InvalidArgumentError | undefined {
  if (typeof options !== "object" || (options as unknown) === null) {
    return new InvalidArgumentError("options", "an object with signal or maxWaitMs", options);
  }
  const { signal, maxWaitMs } = options;
  if (maxWaitMs !== undefined && !(typeof maxWaitMs === "number" && maxWaitMs >= 0)) {
    return new InvalidArgumentError("maxWaitMs", "a number of milliseconds from 0 up", maxWaitMs);
  }
  if (
    signal !== undefined &&
    typeof (signal as { addEventListener?: unknown } | null)?.addEventListener !== "function"
  ) {
    return new InvalidArgumentError("signal", "an AbortSignal", signal);
  }
  return undefined;
}
