import { followSignal } from "../cancellation/index.js";
import { EAGER, type EagerThenable } from "../context/index.js";
import { type AnyGenerator, isGenerator, wrapSteps } from "../internal/generators.js";
import { warnLate } from "./cleanup-errors.js";
import type { Run } from "./run.js";

/**
 * Calls `body` in the run and ends the run with it: when it throws or returns, when the promise that it returned
 * settles, when the generator that it returned ends.
 */
export function runBody<R>(run: Run, environment: string, body: () => R): R {
  let result: R;
  try {
    result = run.enter(body);
  } catch (error) {
    run.end();
    throw error;
  }
  if (typeof result === "object" && result !== null) {
    if (result instanceof Promise) return endAfter(run, result) as R;
    if (EAGER in result) {
      // The handle itself is returned: it has more than `then`.
      void (result as unknown as EagerThenable)[EAGER].then(() => {
        run.end();
      });
      return result;
    }
    if (isGenerator(result)) return endWithGenerator(run, environment, result) as R;
  }
  run.end();
  return result;
}

// A promise of its own: looking at the body's would hide from the platform that nobody handles its failure.
function endAfter(run: Run, promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      run.end();
      return value;
    },
    (error: unknown) => {
      run.end();
      throw error;
    },
  );
}

/** A generator that the consumer has abandoned would never end; so it is closed when the run is aborted. */
function endWithGenerator(run: Run, environment: string, generator: AnyGenerator): AnyGenerator {
  const over = (): void => {
    unfollow();
    run.end();
  };
  const counted = wrapSteps(generator, (step) => endIfDone(step, over));
  const unfollow = followSignal(run.scope.signal, () => {
    closeGenerator(counted, environment);
  });
  return counted;
}

function endIfDone(step: () => unknown, over: () => void): unknown {
  const look = (result: unknown): unknown => {
    if ((result as IteratorResult<unknown>).done === true) over();
    return result;
  };
  const fail = (error: unknown): never => {
    over();
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

function closeGenerator(generator: AnyGenerator, environment: string): void {
  Promise.resolve()
    .then(() => generator.return(undefined))
    .catch((error: unknown) => {
      warnLate(environment, error);
    });
}
