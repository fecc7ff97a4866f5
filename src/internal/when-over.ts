import { type AnyGenerator, wrapSteps } from "./generators.js";

/** Called when something has ended; with the error, when it has failed. */
export type OnOver = (failure?: { readonly error: unknown }) => void;

/**
 * Calls `over` when a promise settles.
 *
 * @returns A promise of its own: looking at the given one would hide from the platform that nobody handles its failure.
 */
export function whenSettled<T>(promise: Promise<T>, over: OnOver): Promise<T> {
  return promise.then(
    (value) => {
      over();
      return value;
    },
    (error: unknown) => {
      over({ error });
      throw error;
    },
  );
}

/** Calls `over` when a generator has ended, and again for each step that is asked of it afterwards. */
export function whenDone(generator: AnyGenerator, over: OnOver): AnyGenerator {
  return wrapSteps(generator, (step) => lookAt(step, over));
}

function lookAt(step: () => unknown, over: OnOver): unknown {
  const look = (result: unknown): unknown => {
    if ((result as IteratorResult<unknown>).done === true) over();
    return result;
  };
  const fail = (error: unknown): never => {
    over({ error });
    throw error;
  };
  let result: unknown;
  try {
    result = step();
  } catch (error) {
    return fail(error);
  }
  return result instanceof Promise ? result.then(look, fail) : look(result);
}
