import { followSignal } from "../cancellation/index.js";
import { EAGER, type EagerThenable } from "../context/index.js";
import { type AnyGenerator, isGenerator } from "../internal/generators.js";
import { whenDone, whenSettled } from "../internal/when-over.js";
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
    if (result instanceof Promise) {
      return whenSettled(result, () => {
        run.end();
      }) as R;
    }
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

/** A generator that the consumer has abandoned would never end; so it is closed when the run is aborted. */
function endWithGenerator(run: Run, environment: string, generator: AnyGenerator): AnyGenerator {
  const over = (): void => {
    unfollow();
    run.end();
  };
  const counted = whenDone(generator, over);
  const unfollow = followSignal(run.scope.signal, () => {
    closeGenerator(counted, environment);
  });
  return counted;
}

function closeGenerator(generator: AnyGenerator, environment: string): void {
  Promise.resolve()
    .then(() => generator.return(undefined))
    .catch((error: unknown) => {
      warnLate(environment, error);
    });
}
