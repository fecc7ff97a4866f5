import { describeValue, TidegateError } from "../errors.js";

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

/** What items of a fan-out stop waiting with when another one has failed. */
export function siblingFailed(cause: unknown): RunAbortedError {
  return new RunAbortedError(
    "Another item of the fan-out has failed (see cause), so this one waits no longer. Catch errors inside the " +
      "function that map calls if the others shall go on.",
    { cause },
  );
}

/**
 * To be thrown by the body of a `batched` function whose batch is more than the service takes, or in which it cannot
 * tell which item is bad: the batch is halved, and each half is a call of its own, down to single items. A single item
 * that is refused so fails its caller with the `cause`, where one was given, else with this error.
 *
 * @example
 * if (answer.status === 413) throw new RetryWithSmallerBatch("too long", { cause: await errorFrom(answer) });
 */
export class RetryWithSmallerBatch extends TidegateError {
  override readonly name = "RetryWithSmallerBatch";
  readonly code = "BATCH_TOO_LARGE";

  constructor(message?: string, options?: ErrorOptions) {
    super(
      message ??
        "A batch was refused as too large. It was halved down to this single item, which was refused too: make the " +
          "item smaller, or throw RetryWithSmallerBatch with a cause that says what is wrong with it.",
      options,
    );
  }
}

/** The body of a `batched` function has not given one result for each item. */
export class BatchResultError extends TidegateError {
  override readonly name = "BatchResultError";
  readonly code = "BATCH_INVALID";
  /** The name of the batched function. */
  readonly batched: string;
  /** The number of items, and so of results. */
  readonly expected: number;
  /** The number of results that came; undefined when it was no array. */
  readonly received: number | undefined;

  constructor(batched: string, expected: number, results: unknown) {
    super(
      `The body of the batched function "${batched}" must give an array of ${String(expected)}, one result for each ` +
        `item in the order of the items; got ${describeValue(results)}. For an item that failed, put a rejected ` +
        `promise in its place: Promise.reject(error).`,
    );
    this.batched = batched;
    this.expected = expected;
    this.received = Array.isArray(results) ? results.length : undefined;
  }
}
