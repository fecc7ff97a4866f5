import { useContext } from "../../context/index.js";
import { requireTaker, settleOrWarn, takeTokens } from "../../internal/take-tokens.js";
import type { AnyFunction, Call, RateLimitRule } from "./fn-options.js";

/** The way to call `f` once its tokens are there. */
export function callAtRate(f: AnyFunction, { key, cost, settle }: RateLimitRule, name: string): Call {
  return async (self, args) => {
    const taker = requireTaker("rateLimit", useContext(key));
    const correct = await takeTokens(taker, cost(...args), settle !== undefined, "rateLimit.key");
    const result = (await f.apply(self, args)) as unknown;
    if (settle !== undefined) await settleOrWarn(`"${name}"`, correct, () => settle(result, ...args));
    return result;
  };
}
