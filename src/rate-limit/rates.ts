import { requireRate } from "../internal/checks.js";

/** `n` tokens a minute as tokens a second, the unit of `maxRowsPerSecond`. */
export function perMinute(n: number): number {
  return requireRate("n", n) / 60;
}

/** `n` tokens an hour as tokens a second, the unit of `maxRowsPerSecond`. */
export function perHour(n: number): number {
  return requireRate("n", n) / 3600;
}
