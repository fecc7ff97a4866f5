import { setTimeout as sleep } from "node:timers/promises";

/**
 * @typedef {object} Runner What the probes of limiters drive.
 * @property {(job: () => T, options?: { cost?: number }) => Promise<T>} run Runs the job when the limiter lets it.
 * @template T
 */

/** What `within` resolves with when the promise takes longer. */
export const LATE = Symbol("late");

/** The promise's value, or LATE when it has none within the time. */
export function within(promise, ms) {
  return Promise.race([promise, sleep(ms, LATE)]);
}

/**
 * Starts `count` jobs at once and waits until all have run.
 *
 * @param {Runner} runner
 * @returns {Promise<number[]>} When each of them started.
 */
export async function startsOf(runner, count) {
  const starts = [];
  const job = () => {
    starts.push(performance.now());
  };
  await Promise.all(Array.from({ length: count }, () => runner.run(job)));
  return starts;
}

/** The most starts in any window of that length, its end not counted. */
export function mostInWindow(starts, windowMs) {
  const sorted = [...starts].sort((a, b) => a - b);
  let most = 0;
  let oldest = 0;
  for (const [index, start] of sorted.entries()) {
    while (start - sorted[oldest] >= windowMs) oldest += 1;
    most = Math.max(most, index - oldest + 1);
  }
  return most;
}

/** A number as people write it: at most so many digits after the point. */
export function short(value, digits = 0) {
  return String(Number(value.toFixed(digits)));
}
