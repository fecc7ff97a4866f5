import { type AnyGenerator, isGenerator, wrapSteps } from "../internal/generators.js";
import { isThenable } from "../internal/thenable.js";
import type { Frame } from "./frame.js";
import { currentFrame, runInFrame } from "./storage.js";

/** Marks a thenable whose work has begun already, so that it need not be settled inside a frame (a run handle). */
export const EAGER = Symbol.for("tidegate/eager-thenable");

/** What carries the mark: a promise that resolves when the work is over, and whose look at it hides no failure. */
export interface EagerThenable {
  readonly [EAGER]: Promise<void>;
}

/**
 * Calls `body` in `frame`, and what it returns belongs to the frame too: a thenable that works only when its `then`
 * is called is settled inside, a generator takes every step inside.
 */
export function enterFrame<R>(frame: Frame | undefined, body: () => R): R {
  return runInFrame(frame, () => keepInside(frame, body()));
}

/** Makes what a function returned go on in `frame`; called inside it. */
export function keepInside<R>(frame: Frame | undefined, result: R): R {
  if (isPlainPromise(result)) return result;
  // A new promise: Promise.resolve() would hand a promise with a "then" of its own back as it is.
  if (isThenable(result) && !(EAGER in result))
    return new Promise((resolve) => {
      resolve(result);
    }) as R;
  return isGenerator(result) ? (stepInside(frame, result) as R) : result;
}

/** Makes every step of a generator run in the frame of the code that calls this, not of who calls `next`. */
export function bindGenerator<R>(result: R): R {
  return isGenerator(result) ? (stepInside(currentFrame(), result) as R) : result;
}

/** A promise whose work does not wait for its "then" to be called. */
export function isPlainPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise && value.then === Promise.prototype.then && value.constructor === Promise;
}

function stepInside(frame: Frame | undefined, generator: AnyGenerator): AnyGenerator {
  return wrapSteps(generator, (step) => runInFrame(frame, step));
}
