import { bindGenerator } from "../../context/index.js";
import { requireFunction } from "../../internal/checks.js";
import type { AnyBudget, Limiter } from "../../rate-limit/index.js";
import {
  type AnyFunction,
  type AsyncFunction,
  type FnNameOptions,
  type FnOptions,
  resolveFnOptions,
} from "./fn-options.js";
import { limitCalls } from "./limited-call.js";
import { pipelineFunction } from "./pipeline-function.js";

/**
 * Makes a pipeline function of `f`: the same signature, `this`, name and length; what is sync stays sync. Called
 * outside every environment it runs in the default one if that is running, else as `f` itself. A generator that it
 * returns takes every step in the context of the call, whoever steps it.
 *
 * With `rateLimit` or `concurrency`, `f` must return a promise. A call first waits for its slot, then for its tokens;
 * the slot is free again when the promise settles. Waiting ends when the run is aborted, a time limit passes, or the
 * fan-out of the call has failed. A call that runs a fan-out gives its slot up until that has ended, so a function may
 * reach itself through `map`. Called by itself directly it holds one slot for each call, and waits for ever when there
 * are none left.
 *
 * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `f` or an option cannot be.
 * @example
 * const fetchPage = fn({ rateLimit: LIMITER, concurrency: 8 }, async function fetchPage(url: string) {
 *   return (await fetch(url, { signal: useSignal() })).text();
 * });
 */
export function fn<F extends AnyFunction>(f: F): F;
export function fn<F extends AnyFunction>(options: FnNameOptions, f: F): F;
export function fn<F extends AsyncFunction, L extends Limiter | AnyBudget>(options: FnOptions<F, L>, f: F): F;
export function fn<F extends AnyFunction>(...given: [F] | [object, F]): F {
  const f = requireFunction("f", given.length === 1 ? given[0] : given[1]);
  const rules = resolveFnOptions(given.length === 1 ? {} : given[0]);
  const isLimited = rules.rate !== undefined || rules.concurrency !== undefined;
  return pipelineFunction(f, rules.name, isLimited ? limitCalls(f, rules) : callPlainly(f));
}

/** No frame is entered: the caller's is right, and entering one costs more than most calls. */
function callPlainly(f: AnyFunction): (self: unknown, args: unknown[]) => unknown {
  return (self, args) => {
    const result = f.apply(self, args) as unknown;
    return result instanceof Promise ? result : bindGenerator(result);
  };
}
