const BRAND = Symbol.for("tidegate/error");

/** Every code that an error of this package can carry. `docs/errors.md` has a heading and a remedy for each. */
export type ErrorCode =
  | "ARGUMENT_INVALID"
  | "QUEUE_FULL"
  | "WAIT_TOO_LONG"
  | "LIMITER_CLOSED"
  | "PERMIT_USED"
  | "KEY_LIMIT"
  | "STORE_UNAVAILABLE"
  | "CONTEXT_MISSING"
  | "ENVIRONMENT_MISSING"
  | "PROVIDE_DUPLICATE"
  | "LIFESPAN_INVALID"
  | "ENVIRONMENT_STATE"
  | "DEADLINE_EXCEEDED"
  | "RUN_ABORTED"
  | "BATCH_TOO_LARGE"
  | "BATCH_INVALID";

/**
 * Base class of the errors that this package throws. `instanceof TidegateError` also recognises errors of another
 * copy of the package in the same process (an ESM and a CommonJS copy, or two installed versions).
 */
export abstract class TidegateError extends Error {
  /** Stable across releases; the message is for people and may change. */
  abstract readonly code: ErrorCode;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    Object.defineProperty(this, BRAND, { value: true });
  }

  /**
   * Whether `value` is an error of this class; for the base class, one of any copy of the package.
   *
   * @hidden
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this === TidegateError) return isBranded(value);
    return Function.prototype[Symbol.hasInstance].call(this, value);
  }
}

function isBranded(value: unknown): value is TidegateError {
  try {
    return typeof value === "object" && value !== null && BRAND in value;
  } catch {
    return false; // a proxy that is revoked or throws
  }
}

/**
 * Tells whether `error` was thrown by tidegate, by any copy of it in this process.
 *
 * @param error - Anything.
 * @param code - When given, the error must also carry this code.
 */
export function isTidegateError(error: unknown, code?: ErrorCode): error is TidegateError {
  return isBranded(error) && (code === undefined || error.code === code);
}

/** A value that an option or argument cannot take. Nothing was spent, queued or changed. */
export class InvalidArgumentError extends TidegateError {
  override readonly name = "InvalidArgumentError";
  readonly code = "ARGUMENT_INVALID";
  /** The option or argument, as the caller wrote it. */
  readonly option: string;
  /** What it must be, to follow "must be". */
  readonly requirement: string;
  /** What came instead. */
  readonly received: unknown;

  /**
   * @param option - The option or argument, as the caller wrote it.
   * @param requirement - What it must be, to follow "must be".
   * @param received - What came instead.
   */
  constructor(option: string, requirement: string, received: unknown) {
    super(`"${option}" must be ${requirement}; got ${describeValue(received)}.`);
    this.option = option;
    this.requirement = requirement;
    this.received = received;
  }
}

const LONGEST = 60;

/** Names a value in a message: short, and unable to throw. */
export function describeValue(value: unknown): string {
  try {
    return typeof value === "string" ? JSON.stringify(shorten(value)) : shorten(nameOf(value));
  } catch {
    // A proxy that is revoked or throws, a class whose own "name" is no text.
    return typeof value === "function" ? "a function" : "an object";
  }
}

function shorten(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function nameOf(value: unknown): string {
  if (typeof value === "bigint") return `${String(value)}n`;
  if (typeof value === "function") return value.name === "" ? "a function" : `the function ${value.name}`;
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : String(value);
  if (Array.isArray(value)) return `an array of ${String(value.length)}`;
  const name: unknown = (value.constructor as { name?: unknown } | undefined)?.name;
  return typeof name === "string" && name !== "" && name !== "Object" ? `a ${name}` : "an object";
}
