import { type ContextKey, requireKey } from "../../context/index.js";
import { InvalidArgumentError } from "../../errors.js";
import { requireFunction, requireLimit, requireObject } from "../../internal/checks.js";
import type { AnyBudget, CostAt, Limiter } from "../../rate-limit/index.js";

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any signature is kept
export type AnyFunction = (...args: any[]) => any;
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any signature is kept
export type AsyncFunction = (...args: any[]) => Promise<any>;

/** A call of a function in its limits. */
export type Call = (self: unknown, args: unknown[]) => Promise<unknown>;

/** A limiter that takes corrections after the fact, as RateLimiter does. */
export interface CorrectableLimiter extends Limiter {
  /** Gives back `n` tokens, a number from 0 up, that turned out not to be needed. */
  refund(n: number): unknown;
  /** Takes `n` tokens more, a number from 0 up, that turned out to be needed: later callers wait for them. */
  charge(n: number): unknown;
}

/** A rate limit whose cost depends on the call. */
export interface FnRateLimit<F extends AsyncFunction, L extends Limiter | AnyBudget> {
  /** The key of the limiter or budget. */
  readonly key: ContextKey<L>;
  /** The tokens that a call takes: integers from 0 up. Called with the arguments of the call. */
  readonly cost: (...args: Parameters<F>) => CostAt<L>;
  /**
   * The tokens that the call has needed in fact, integers from 0 up, when it has succeeded; called with its result and
   * its arguments. The limiter is given back the rest, or charged for what is missing; a dimension of a budget that is
   * not named keeps its estimate. After a failed call the estimate stands, and so it does for undefined, and with a
   * warning when this function throws or gives anything else. Needs a budget, or a limiter with `refund` and `charge`.
   */
  readonly settle?:
    | (L extends CorrectableLimiter | AnyBudget
        ? (result: Awaited<ReturnType<F>>, ...args: Parameters<F>) => CostAt<L> | undefined
        : never)
    | undefined;
}

/** Options for a function that may be sync. */
export interface FnNameOptions {
  /** The name of the wrapper, for stack traces and reports. Default: that of the function. */
  readonly name?: string | undefined;
  /** Only for a function that returns a promise. */
  readonly rateLimit?: undefined;
  /** Only for a function that returns a promise. */
  readonly concurrency?: undefined;
}

/** Options of `fn`, for a function that returns a promise. */
export interface FnOptions<F extends AsyncFunction, L extends Limiter | AnyBudget> {
  /** The name of the wrapper, for stack traces and reports. Default: that of the function. */
  readonly name?: string | undefined;
  /**
   * Where the limiter is that each call draws from before it starts. The key of a limiter alone costs one token a call;
   * for a budget, say the cost. The key is looked up in the context of the call.
   */
  readonly rateLimit?: (L extends Limiter ? ContextKey<L> : never) | FnRateLimit<F, L> | undefined;
  /**
   * Most calls that run at once, over all callers in the process: an integer from 1 up, or Infinity. The others wait
   * in the order in which they were made. Default: Infinity.
   */
  readonly concurrency?: number | undefined;
}

/** A rate limit in the form that a call works with. */
export interface RateLimitRule {
  readonly key: ContextKey<unknown>;
  readonly cost: (...args: readonly unknown[]) => unknown;
  readonly settle: ((result: unknown, ...args: readonly unknown[]) => unknown) | undefined;
}

export interface FnRules {
  readonly name: string | undefined;
  readonly rate: RateLimitRule | undefined;
  /** Undefined when nothing bounds the calls. */
  readonly concurrency: number | undefined;
}

/** Checks the options of `fn`. */
export function resolveFnOptions(options: object): FnRules {
  const { name, rateLimit, concurrency } = requireObject("options", options) as {
    [option in "name" | "rateLimit" | "concurrency"]?: unknown;
  };
  if (name !== undefined && typeof name !== "string")
    throw new InvalidArgumentError("name", "a string", name);
  return {
    name,
    rate: rateLimit === undefined ? undefined : resolveRateLimit(rateLimit),
    concurrency: concurrency === undefined ? undefined : requireLimit("concurrency", concurrency),
  };
}

const one = (): number => 1;

function resolveRateLimit(given: unknown): RateLimitRule {
  if (typeof given !== "object" || given === null) {
    throw new InvalidArgumentError("rateLimit", "a ContextKey, or an object with key and cost", given);
  }
  if (!("key" in given))
    return { key: requireKey(given as ContextKey<unknown>), cost: one, settle: undefined };
  const { key, cost, settle } = given as RateLimitRule;
  return {
    key: requireKey(key),
    cost: requireFunction("cost", cost),
    settle: settle === undefined ? undefined : requireFunction("settle", settle),
  };
}
