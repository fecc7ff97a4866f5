import type { ContextKey } from "../../context/index.js";
import { InvalidArgumentError } from "../../errors.js";
import { requireFinite } from "../../internal/checks.js";
import type { AnyBudget, CostAt, Limiter } from "../../rate-limit/index.js";
import { type CorrectableLimiter, type FnRules, resolveFnOptions } from "../calls/fn-options.js";

/** A rate limit whose cost depends on the batch. */
export interface BatchRateLimit<T, R, L extends Limiter | AnyBudget> {
  /** The key of the limiter or budget. */
  readonly key: ContextKey<L>;
  /**
   * The tokens that a batch takes: integers from 0 up. For a token an item: `(items) => items.length`. Called when the
   * batch begins to wait for them.
   */
  readonly cost: (items: readonly T[]) => CostAt<L>;
  /**
   * The tokens that the batch has needed in fact, integers from 0 up, when its body has succeeded; called with its
   * results and the items that it was called with. What comes of it is the same as for `fn`.
   */
  readonly settle?:
    | (L extends CorrectableLimiter | AnyBudget
        ? (results: readonly R[], items: readonly T[]) => CostAt<L> | undefined
        : never)
    | undefined;
}

/** Options of `batched`. */
export interface BatchOptions<T, R, L extends Limiter | AnyBudget> {
  /** Most items in one batch: an integer from 1 up. A batch that is full goes at once. */
  readonly maxBatchSize: number;
  /**
   * How long a batch that is not full waits after its first item: milliseconds from 0 up, finite, on the clock of the
   * environment, outside every one on the system's. Default: it goes in the same turn, after one microtask.
   */
  readonly maxWaitMs?: number | undefined;
  /** The name of the function, for stack traces, errors and reports. Default: that of the body. */
  readonly name?: string | undefined;
  /**
   * Where the limiter is that each batch draws from before its body is called. The key of a limiter alone costs one
   * token a batch; for a budget, or a cost by item, say the cost. The key is looked up in the context of the body.
   */
  readonly rateLimit?: (L extends Limiter ? ContextKey<L> : never) | BatchRateLimit<T, R, L> | undefined;
  /**
   * Most batches at once, over all callers in the process: an integer from 1 up, or Infinity. The others wait in the
   * order in which they went. Default: Infinity.
   */
  readonly concurrency?: number | undefined;
}

export interface BatchRules extends FnRules {
  readonly maxBatchSize: number;
  readonly maxWaitMs: number | undefined;
}

/** Checks the options of `batched`. */
export function resolveBatchOptions(options: object): BatchRules {
  const common = resolveFnOptions(options);
  const { maxBatchSize, maxWaitMs } = options as { [option in "maxBatchSize" | "maxWaitMs"]?: unknown };
  return {
    ...common,
    maxBatchSize: requireSize("maxBatchSize", maxBatchSize),
    maxWaitMs: maxWaitMs === undefined ? undefined : requireFinite("maxWaitMs", maxWaitMs, 0, "milliseconds"),
  };
}

function requireSize(name: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 1) return value as number;
  throw new InvalidArgumentError(name, "an integer from 1 up", value);
}
