import { describeValue } from "../errors.js";
import { warn } from "../internal/warn.js";

const GATHERED = Symbol.for("tidegate/gathered-errors");

/** One error as it is, several as an AggregateError in the order in which they happened. */
export function gather(errors: readonly unknown[], message: string): unknown {
  if (errors.length === 1) return errors[0];
  return mark(new AggregateError(errors, message));
}

/** The error of a start that failed: the original, or original and cleanup errors with the original as cause. */
export function gatherFailedStart(original: unknown, cleanup: readonly unknown[]): unknown {
  if (cleanup.length === 0) return original;
  const [first, ...others] = spread(original);
  const errors = [first, ...others, ...cleanup];
  return mark(new AggregateError(errors, "The start failed, and then its cleanup.", { cause: first }));
}

/** The errors that were gathered into one; so that an aggregate never holds another. */
export function spread(error: unknown): readonly unknown[] {
  return error instanceof AggregateError && GATHERED in error ? (error.errors as unknown[]) : [error];
}

/** Tells of a failed cleanup that nobody waits for any more. */
export function warnLate(environment: string, error: unknown): void {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : describeValue(error);
  warn(
    `Environment "${environment}": cleanup failed when nobody waited for it any more. ${text}`,
    "TIDEGATE_LATE_CLEANUP",
  );
}

function mark(error: AggregateError): AggregateError {
  return Object.defineProperty(error, GATHERED, { value: true });
}
