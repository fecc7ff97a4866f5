import { TidegateError } from "../errors.js";

/** A time limit set with `withTimeout` has passed. */
export class DeadlineExceededError extends TidegateError {
  override readonly name = "DeadlineExceededError";
  readonly code = "DEADLINE_EXCEEDED";
  /** The limit that has passed, in milliseconds. */
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(
      `The time limit of ${String(timeoutMs)} ms has passed. Give the body more time in withTimeout(ms, body), or ` +
        `hand useSignal() to what is slow in it, so that it stops early.`,
    );
    this.timeoutMs = timeoutMs;
  }
}

/**
 * Work was given up: its run was aborted, by its handle or by a signal to `runMain`, the fan-out that it belongs to has
 * failed (then `cause` says of what), or the stream that it belongs to was left early.
 */
export class RunAbortedError extends TidegateError {
  override readonly name = "RunAbortedError";
  readonly code = "RUN_ABORTED";
}
