import { type ContextKey, requireKey, useContext } from "../context/index.js";
import { InvalidArgumentError } from "../errors.js";
import { limiterReport } from "../internal/limiter-report.js";
import type { Taker } from "../internal/take-tokens.js";
import type { FetchLimiter } from "./options.js";

/** A limiter of whatever kind: `cost` and `acquire` have to agree, which the types of `limitFetch` see to. */
export interface AnyLimiter extends Taker {
  readonly name?: string | undefined;
  pause(ms: number): unknown;
}

/**
 * How each call finds its limiter. One that is given outright is checked now.
 *
 * @param hasCost - Whether the user has said what a request costs; at a budget there is no default.
 */
export function finderOf<L extends FetchLimiter>(
  limiter: L | ContextKey<L>,
  hasCost: boolean,
): () => AnyLimiter {
  if (!isLimiter(limiter)) {
    const key = requireKey(limiter as ContextKey<L>, "limiter");
    return () => requireLimiter(useContext(key), hasCost);
  }
  const found = requireLimiter(limiter, hasCost);
  return () => found;
}

function isLimiter<L extends FetchLimiter>(value: L | ContextKey<L>): value is L {
  return typeof (value as Partial<Taker> | null | undefined)?.acquire === "function";
}

function requireLimiter(value: unknown, hasCost: boolean): AnyLimiter {
  const { acquire, pause } = (value ?? {}) as Partial<AnyLimiter>;
  if (typeof acquire === "function" && typeof pause === "function") {
    if (hasCost) return value as AnyLimiter;
    const dimensions = limiterReport(value)?.dimensions.map(({ name }) => name) ?? [];
    if (dimensions[0] === undefined) return value as AnyLimiter;
    throw new InvalidArgumentError(
      "cost",
      `given for a budget, a record or a function that gives one: what a request costs of ${dimensions.join(", ")}`,
      undefined,
    );
  }
  throw new InvalidArgumentError(
    "limiter",
    "a limiter or a budget with acquire() and pause(), or a key of one",
    value,
  );
}
