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
  if (isPlainPromise(result) || !isReference(result)) return result;
  // A new promise: Promise.resolve() would hand a promise with a "then" of its own back as it is.
  if (isLazyThenable(result))
    return new Promise((resolve) => {
      resolve(result);
    }) as R;
  return isGenerator(result) ? (stepInside(frame, result) as R) : result;
}

/** Makes every step of a generator run in the frame of the code that calls this, not of who calls `next`. */
export function bindGenerator<R>(result: R): R {
  return isGenerator(result) ? (stepInside(currentFrame(), result) as R) : result;
}

type AnyGenerator = Generator<unknown, unknown, unknown> | AsyncGenerator<unknown, unknown, unknown>;

/** A promise whose work does not wait for its "then" to be called. */
export function isPlainPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise && value.then === Promise.prototype.then && value.constructor === Promise;
}

function isReference(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function isLazyThenable(value: object): boolean {
  return typeof (value as { then?: unknown }).then === "function" && !(EAGER in value);
}

/** Generators, not iterators in general: only a generator has a body that runs in the frame of who steps it. */
export function isGenerator(value: unknown): value is AnyGenerator {
  const tag = Object.prototype.toString.call(value);
  return tag === "[object Generator]" || tag === "[object AsyncGenerator]";
}

function stepInside(frame: Frame | undefined, generator: AnyGenerator): AnyGenerator {
  const stepping = Object.create(generator) as AnyGenerator;
  for (const step of ["next", "return", "throw"] as const) {
    const take = generator[step].bind(generator) as (value: unknown) => unknown;
    Object.defineProperty(stepping, step, {
      value: (...values: [unknown]) => runInFrame(frame, () => take(...values)),
    });
  }
  return stepping;
}
