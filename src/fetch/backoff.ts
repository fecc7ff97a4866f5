import { systemClock } from "../clock.js";
import { currentRun } from "../lifespan/index.js";
import { RateLimiter } from "../rate-limit/index.js";

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

/** Waits outside the line. The signal, and the end of the run or of the time limit around, end it as they end an acquire. */
export async function waitAlone(ms: number, limiter: string, signal: AbortSignal | undefined): Promise<void> {
  if (ms <= 0) return;
  const timer = new RateLimiter({
    name: `${limiter}, before a retry`,
    maxRowsPerSecond: 1000 / ms,
    initialTokens: 0,
    clock: currentRun()?.clock ?? systemClock,
  });
  await timer.acquire(1, { signal });
}
