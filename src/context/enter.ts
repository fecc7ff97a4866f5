import type { Frame } from "./frame.js";
import { currentFrame, runInFrame } from "./storage.js";

/** Marks a thenable whose work has begun already, so that it need not be settled inside a frame (a run handle). */
export const EAGER = Symbol.for("tidegate/eager-thenable");

/**
 * Calls `body` in `frame`, and what it returns belongs to the frame too: a thenable that works only when its `then`
 * is called is settled inside, a generator takes every step inside.
 */
export function enterFrame<R>(frame: Frame | undefined, body: () => R): R {
  return runInFrame(frame, () => keepInside(frame, body()));
}

/** Makes what a function returned go on in `frame`; called inside it. */
export function keepInside<R>(frame: Frame | undefined, result: R): R {
  if (typeof result !== "object" || result === null || result instanceof Promise) return result;
  if (isLazyThenable(result)) return Promise.resolve(result) as R;
  return isGenerator(result) ? (stepInside(frame, result) as R) : result;
}

/** Makes every step of a generator run in the frame of the code that calls this, not of who calls `next`. */
export function bindGenerator<R>(result: R): R {
  return isGenerator(result) ? (stepInside(currentFrame(), result) as R) : result;
}

type AnyGenerator = Generator<unknown, unknown, unknown> | AsyncGenerator<unknown, unknown, unknown>;

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
