import { requireCount, requireFunction } from "../internal/checks.js";
import { imitate } from "../internal/imitate.js";
import type { Limiter } from "./limiter.js";

/**
 * Makes a function that takes tokens of `limiter` before each call of `f`; it has the signature, name and length of `f`.
 *
 * @param cost - Tokens for one call, from its arguments. Default: 1.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any signature is kept
export function limitCalls<F extends (...args: any[]) => Promise<any>>(
  limiter: Limiter,
  f: F,
  cost?: (...args: Parameters<F>) => number,
): F {
  requireFunction("f", f);
  if (cost !== undefined) requireFunction("cost", cost);
  const wrapped = async function (this: unknown, ...args: Parameters<F>): Promise<unknown> {
    await limiter.acquire(cost === undefined ? 1 : requireCount("cost", cost(...args)));
    return (await f.apply(this, args)) as unknown;
  };
  return imitate(wrapped as F, f);
}
