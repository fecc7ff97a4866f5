import { followSignal } from "../cancellation/index.js";
import type { Clock } from "../clock.js";

/**
 * Waits for `work`, at most `limitMs`; then leaves it behind, and an error of it that comes later is dropped.
 *
 * @param limitMs - Undefined or Infinity: without limit, and without a timer.
 * @param late - Makes the error for work that takes longer.
 */
export async function withinLimit(
  clock: Clock,
  limitMs: number | undefined,
  work: () => unknown,
  late: () => Error,
): Promise<void> {
  const result = work();
  if (limitMs === undefined || limitMs === Infinity) {
    await result;
    return;
  }
  await new Promise<void>((resolve, reject) => {
    const disarm = clock.schedule(limitMs, () => {
      reject(late());
    });
    Promise.resolve(result).then(
      () => {
        disarm();
        resolve();
      },
      (error: unknown) => {
        disarm();
        reject(error);
      },
    );
  });
}

/** Settles as `work` does, but rejects with the signal's reason as soon as it aborts. */
export function unlessAborted(signal: AbortSignal, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const unfollow = followSignal(signal, reject);
    work.then(resolve, reject).finally(unfollow);
  });
}
