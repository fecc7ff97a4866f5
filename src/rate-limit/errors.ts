import { TidegateError } from "../errors.js";

/** The line is full: `maxQueue` callers wait already. Nothing was spent. */
export class QueueFullError extends TidegateError {
  override readonly name = "QueueFullError";
  readonly code = "QUEUE_FULL";
  /** The name of the limiter. */
  readonly limiter: string;
  /** Callers that may wait at once. */
  readonly maxQueue: number;

  constructor(limiter: string, maxQueue: number) {
    super(
      `Limiter "${limiter}" has ${String(maxQueue)} callers waiting, as many as maxQueue allows. ` +
        `Call later, raise maxQueue, or bound the fan-out with map(f, items, { concurrency }).`,
    );
    this.limiter = limiter;
    this.maxQueue = maxQueue;
  }
}

/** The tokens will not be there in the time that the caller has. Nothing was spent. */
export class WaitTooLongError extends TidegateError {
  override readonly name = "WaitTooLongError";
  readonly code = "WAIT_TOO_LONG";
  /** The name of the limiter. */
  readonly limiter: string;
  /** The wait as it was foreseen when the call failed, in milliseconds. */
  readonly estimatedWaitMs: number;
  /** The longest wait that the caller allowed, in milliseconds: `maxWaitMs`, or what was left of a time limit. */
  readonly maxWaitMs: number;

  constructor(limiter: string, estimatedWaitMs: number, maxWaitMs: number) {
    super(
      `Limiter "${limiter}" would need about ${String(Math.ceil(estimatedWaitMs))} ms; the caller allows ` +
        `${String(Math.floor(maxWaitMs))} ms. Call again in ${String(Math.ceil(estimatedWaitMs))} ms, or allow more.`,
    );
    this.limiter = limiter;
    this.estimatedWaitMs = estimatedWaitMs;
    this.maxWaitMs = maxWaitMs;
  }
}

/** The limiter was closed: by `close()`, or with the environment that provides it. `cause` is the reason given. */
export class LimiterClosedError extends TidegateError {
  override readonly name = "LimiterClosedError";
  readonly code = "LIMITER_CLOSED";
  /** The name of the limiter. */
  readonly limiter: string;

  constructor(limiter: string, reason: unknown) {
    super(
      `Limiter "${limiter}" is closed and grants nothing any more. Make a new one, or finish the calls before it is closed.`,
      reason === undefined ? undefined : { cause: reason },
    );
    this.limiter = limiter;
  }
}

/** A permit was settled or refunded a second time. Nothing was changed. */
export class PermitUsedError extends TidegateError {
  override readonly name = "PermitUsedError";
  readonly code = "PERMIT_USED";
  /** The name of the budget. */
  readonly limiter: string;

  constructor(limiter: string) {
    super(
      `A permit of budget "${limiter}" was used up already: each is settled or refunded once. Keep it in one place, ` +
        `and either settle it with what was needed or refund it.`,
    );
    this.limiter = limiter;
  }
}

/**
 * A keyed limiter holds as many keys as `maxKeys` allows, and none of those that it has looked at can go. Nothing was
 * spent, and no key was reset.
 */
export class KeyLimitError extends TidegateError {
  override readonly name = "KeyLimitError";
  readonly code = "KEY_LIMIT";
  /** The name of the limiter. */
  readonly limiter: string;
  /** Keys that may be held at once. */
  readonly maxKeys: number;

  constructor(limiter: string, maxKeys: number) {
    super(
      `Keyed limiter "${limiter}" holds ${String(maxKeys)} keys, as many as maxKeys allows, and those it has looked ` +
        `at are in use. Call later, when a key has refilled, or raise maxKeys.`,
    );
    this.limiter = limiter;
    this.maxKeys = maxKeys;
  }
}
