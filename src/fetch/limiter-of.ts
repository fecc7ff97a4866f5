import { type ContextKey, requireKey, useContext } from "../context/index.js";
import { InvalidArgumentError } from "../errors.js";
import type { Taker } from "../internal/take-tokens.js";
import type { FetchLimiter, FetchRules } from "./options.js";

/** A limiter of whatever kind: `cost` and `acquire` have to agree, which the types of `limitFetch` see to. */
export interface AnyLimiter extends Taker {
  readonly name?: string | undefined;
  pause?(ms: number): unknown;
}

/** How each call finds its limiter. One that is given outright is checked now. */
export function finderOf<L extends FetchLimiter>(
  limiter: L | ContextKey<L>,
  rules: FetchRules,
): () => AnyLimiter {
  const needsPause = rules.isShared !== undefined;
  if (!isLimiter(limiter)) {
    const key = requireKey(limiter as ContextKey<L>, "limiter");
    return () => requireLimiter(useContext(key), needsPause);
  }
  const found = requireLimiter(limiter, needsPause);
  return () => found;
}

function isLimiter<L extends FetchLimiter>(value: L | ContextKey<L>): value is L {
  return typeof (value as Partial<Taker> | null | undefined)?.acquire === "function";
}

function requireLimiter(value: unknown, needsPause: boolean): AnyLimiter {
  const given = value as Partial<AnyLimiter> | null | undefined;
  if (typeof given?.acquire !== "function")
    throw new InvalidArgumentError(
      "limiter",
      "a limiter, a budget, or a key of one: it needs acquire()",
      value,
    );
  if (needsPause && typeof given.pause !== "function")
    throw new InvalidArgumentError("limiter", "one that can pause(), unless feedback is false", value);
  return given as AnyLimiter;
}
