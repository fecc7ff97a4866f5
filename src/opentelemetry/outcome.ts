import { isTidegateError } from "../errors.js";

/** What became of a request for tokens. */
export type Outcome = "acquired" | "aborted" | "timeout" | "rejected";

/**
 * How a request ended that got no tokens: the limiter would not have it, its time was not enough, or its caller gave it
 * up. It is the reason that counts, not whether the request came into the line.
 *
 * @param errorType - That of the reason.
 */
export function outcomeOf(errorType: string): Outcome {
  switch (errorType) {
    case "QUEUE_FULL":
    case "KEY_LIMIT":
    case "LIMITER_CLOSED":
      return "rejected";
    case "WAIT_TOO_LONG":
    case "DEADLINE_EXCEEDED":
    case "TimeoutError": // that of AbortSignal.timeout()
      return "timeout";
    default:
      return "aborted";
  }
}

/** A name of few: the code of an error of this package, the name of another error, and one for all that is no error. */
export function errorTypeOf(error: unknown): string {
  if (isTidegateError(error)) return error.code;
  return isError(error) ? error.name : "_OTHER";
}

/** Errors of other realms are errors too, and so is what an AbortSignal aborts with; all that have a name. */
export function isError(value: unknown): value is Error {
  try {
    const isOne = /^\[object (?:Error|DOMException)\]$/.test(Object.prototype.toString.call(value));
    return isOne && typeof (value as Error).name === "string";
  } catch {
    return false; // a proxy that is revoked or throws
  }
}
