import { type Clock, systemClock } from "../clock.js";
import { InvalidArgumentError } from "../errors.js";
import { requireCount, requireObject } from "../internal/checks.js";
import { type RateOptions, type RateSettings, resolveRate, shapeOf } from "./shape.js";
import type { BucketShape } from "./token-bucket.js";

export interface RateLimiterOptions extends RateOptions {
  /** Most callers that may wait at once: an integer from 0 up, or Infinity. Default Infinity. */
  readonly maxQueue?: number | undefined;
  /** Tokens in the bucket at the start: from 0 to its capacity, may be fractional. Default: full. */
  readonly initialTokens?: number | undefined;
  /** For errors and metrics. Default "limiter". */
  readonly name?: string | undefined;
  /** Source of time. Default: the monotonic clock of the platform. */
  readonly clock?: Clock | undefined;
}

/** The options, checked and complete. */
export interface RateLimiterSettings {
  readonly rate: RateSettings;
  readonly shape: BucketShape;
  readonly maxQueue: number;
  readonly initialTokens: number;
  readonly name: string;
  readonly clock: Clock;
}

/** Checks everything before anything is made. */
export function resolveOptions(options: RateLimiterOptions): RateLimiterSettings {
  const {
    maxQueue = Infinity,
    initialTokens,
    name = "limiter",
    clock = systemClock,
  } = requireObject("options", options);
  if (typeof name !== "string") throw new InvalidArgumentError("name", "a string", name);
  const rate = resolveRate(options);
  const shape = shapeOf(rate);
  return {
    rate,
    shape,
    maxQueue: maxQueue === Infinity ? Infinity : requireCount("maxQueue", maxQueue, ", or Infinity"),
    initialTokens: requireTokens(initialTokens, shape.capacity),
    name,
    clock: requireClock(clock),
  };
}

function requireTokens(tokens: number | undefined, capacity: number): number {
  if (tokens === undefined) return capacity;
  if (typeof tokens === "number" && tokens >= 0 && tokens <= capacity) return tokens;
  throw new InvalidArgumentError(
    "initialTokens",
    `a number from 0 to the capacity, ${String(capacity)}`,
    tokens,
  );
}

function requireClock(clock: Clock): Clock {
  const given = clock as Partial<Clock> | null;
  if (typeof given?.now === "function" && typeof given.schedule === "function") return clock;
  throw new InvalidArgumentError("clock", "an object with now() and schedule()", clock);
}
