import { ambientScope, followSignal, timeLeftMs } from "../cancellation/index.js";
import { systemClock } from "../clock.js";
import { scheduleAt } from "../internal/schedule-at.js";
import { currentRun } from "../lifespan/index.js";
import { WaitTooLongError } from "../rate-limit/index.js";

/** More do not matter, and a power that overflows would make 0 times Infinity. */
const MOST_DOUBLINGS = 30;

/**
 * A random wait below a bound that doubles: "full jitter" (M. Brooker 2015, "Exponential Backoff And Jitter"), so that
 * those who were refused together do not come back together. The cap is on the bound: capped waits would be equal.
 *
 * @param row - How many refusals there were before this one, in a row.
 */
export function fullJitter(baseMs: number, row: number, capMs: number): number {
  return Math.random() * Math.min(capMs, baseMs * 2 ** Math.min(row, MOST_DOUBLINGS));
}

/**
 * Waits outside the line. The signal, and the end of the run or of the time limit around, end it as they end an acquire;
 * a wait that cannot fit in the time limit fails at once.
 *
 * @param limiter - The name of the limiter, for errors.
 */
export function waitAlone(ms: number, limiter: string, signal: AbortSignal | undefined): Promise<void> {
  const clock = currentRun()?.clock ?? systemClock;
  const scope = ambientScope();
  const now = clock.now();
  const left = timeLeftMs(scope, clock, now);
  if (left < ms) return Promise.reject(new WaitTooLongError(limiter, ms, Math.max(0, left)));
  return new Promise((resolve, reject) => {
    const ends: (() => void)[] = [];
    const fail = (reason: unknown): void => {
      for (const end of ends) end();
      reject(reason);
    };
    if (scope?.ended === true) {
      fail(scope.reason);
      return;
    }
    const listener = { scopeEnded: fail };
    scope?.add(listener);
    ends.push(() => scope?.remove(listener));
    ends.push(
      scheduleAt(clock, now + ms, () => {
        for (const end of ends) end();
        resolve();
      }),
    );
    if (signal !== undefined) ends.push(followSignal(signal, fail));
  });
}
