import { TidegateError } from "../errors.js";

/**
 * The store did not do what a limiter asked of it: it is not reached, refuses, or has not answered in time. `cause` is
 * what the client said; undefined when it said nothing. Whether tokens were spent is not known.
 */
export class StoreUnavailableError extends TidegateError {
  override readonly name = "StoreUnavailableError";
  readonly code = "STORE_UNAVAILABLE";
  /** The name of the limiter. */
  readonly limiter: string;
  /** Whether the answer did not come in time; else the call has failed. */
  readonly isUnanswered: boolean;

  constructor(limiter: string, what: string, isUnanswered: boolean, cause?: unknown) {
    super(
      `The store of limiter "${limiter}" ${what}. Check the server and the client's connection; to wait it out ` +
        `instead, or to go on with a local limiter, set onStoreError.`,
      cause === undefined ? undefined : { cause },
    );
    this.limiter = limiter;
    this.isUnanswered = isUnanswered;
  }
}
