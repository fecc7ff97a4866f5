import { type Clock, systemClock } from "../clock.js";
import { InvalidArgumentError } from "../errors.js";
import { requireClock, requireCount, requireObject } from "../internal/checks.js";

/** What every limiter with a line in this process takes. */
export interface LineOptions {
  /** Most callers that may wait at once: an integer from 0 up, or Infinity. Default Infinity. */
  readonly maxQueue?: number | undefined;
  /** For errors and metrics. Default "limiter", "budget" or "keyed limiter". */
  readonly name?: string | undefined;
  /** Source of time. Default: the monotonic clock of the platform. */
  readonly clock?: Clock | undefined;
}

/** The options of a line, checked and complete. */
export interface LineSettings {
  readonly maxQueue: number;
  readonly name: string;
  readonly clock: Clock;
}

/** @param kind - The name of a limiter that was given none. */
export function resolveLineOptions(options: LineOptions, kind: string): LineSettings {
  const { maxQueue = Infinity, name = kind, clock = systemClock } = requireObject("options", options);
  if (typeof name !== "string") throw new InvalidArgumentError("name", "a string", name);
  return {
    name,
    maxQueue: maxQueue === Infinity ? Infinity : requireCount("maxQueue", maxQueue, ", or Infinity"),
    clock: requireClock(clock),
  };
}
