import { requireFunction } from "../internal/checks.js";
import { imitate } from "../internal/imitate.js";
import { enterFrame } from "./enter.js";
import { deriveFrame } from "./frame.js";
import type { ContextKey } from "./key.js";
import { requireKey } from "./key.js";
import { currentFrame } from "./storage.js";

/**
 * Calls `body` with `value` under `key`, for the whole call tree below it and nothing else. Works outside an
 * environment too; around `app.run()` and `environment.run()` it holds inside. A lazy thenable that `body` returns
 * is settled inside, so the result is then a promise.
 *
 * @returns What `body` returns.
 */
export function withContext<T, R>(key: ContextKey<T>, value: NoInfer<T>, body: () => R): R {
  requireKey(key);
  requireFunction("body", body);
  const frame = currentFrame();
  const overrides = new Map(frame?.overrides).set(key, value);
  return enterFrame(deriveFrame(frame, { overrides }), body);
}

/**
 * Makes a function that runs in the context of the code that calls `bindContext`, whoever calls it and whenever: for
 * listeners, which otherwise run in the context of who emits, for queues and for worker loops.
 *
 * @returns A function with the signature of `f`; `this` is passed on.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any signature is kept
export function bindContext<F extends (...args: any[]) => any>(f: F): F {
  requireFunction("f", f);
  const frame = currentFrame();
  const bound = function (this: unknown, ...args: Parameters<F>): ReturnType<F> {
    return enterFrame(frame, () => f.apply(this, args) as ReturnType<F>);
  };
  return imitate(bound as F, f);
}
