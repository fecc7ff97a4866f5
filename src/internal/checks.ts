import type { Clock } from "../clock.js";
import { InvalidArgumentError } from "../errors.js";

/** Returns `value` when it is an integer from 0 up that a double holds exactly; else throws. */
export function requireCount(name: string, value: unknown, alternative = ""): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new InvalidArgumentError(name, `an integer from 0 up${alternative}`, value);
}

/** Returns `value` when it is a finite number from `min` up; else throws. */
export function requireFinite(name: string, value: unknown, min: number, unit: string): number {
  if (typeof value === "number" && Number.isFinite(value) && value >= min) return value;
  throw new InvalidArgumentError(name, `a finite number of ${unit} from ${String(min)} up`, value);
}

/** Returns `value` when it is a number above 0, Infinity included; else throws. */
export function requireRate(name: string, value: unknown): number {
  if (typeof value === "number" && value > 0) return value;
  throw new InvalidArgumentError(name, "a number above 0 (tokens a second), or Infinity", value);
}

/** Returns `value` when it is an integer from 1 up or Infinity; else throws. */
export function requireLimit(name: string, value: unknown): number {
  if (value === Infinity || (Number.isSafeInteger(value) && (value as number) >= 1)) return value as number;
  throw new InvalidArgumentError(name, "an integer from 1 up, or Infinity", value);
}

/** Returns `value` when it is a string that is not empty; else throws. */
export function requireName(name: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw new InvalidArgumentError(name, "a string that is not empty", value);
}

/** Returns `value` when it is a function; else throws. */
export function requireFunction<F>(name: string, value: F): F {
  if (typeof value === "function") return value;
  throw new InvalidArgumentError(name, "a function", value);
}

/** Returns `value` when it is a boolean; else throws. */
export function requireBoolean(name: string, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw new InvalidArgumentError(name, "a boolean", value);
}

/** Returns `value` when it is an object; else throws. */
export function requireObject<O extends object>(name: string, value: O): O {
  if (typeof value === "object" && (value as O | null) !== null) return value;
  throw new InvalidArgumentError(name, "an object of options", value);
}

/** Returns `value` when it is an object or undefined; else throws. */
export function requireOptions<O extends object>(name: string, value: O | undefined): O | undefined {
  return value === undefined ? undefined : requireObject(name, value);
}

/** Returns `signal` when it is an AbortSignal, of whatever make, or undefined; else throws. */
export function requireSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  const given = signal as Partial<AbortSignal> | null;
  if (
    typeof given?.addEventListener === "function" &&
    typeof given.removeEventListener === "function" &&
    typeof given.aborted === "boolean"
  ) {
    return signal;
  }
  throw new InvalidArgumentError("signal", "an AbortSignal", signal);
}

/** Returns `clock` when it looks like one; else throws. */
export function requireClock(clock: Clock): Clock {
  const given = clock as { readonly [K in keyof Clock]?: unknown } | null;
  if (typeof given?.now === "function" && typeof given.schedule === "function") return clock;
  throw new InvalidArgumentError("clock", "a Clock, with now() and schedule()", clock);
}
