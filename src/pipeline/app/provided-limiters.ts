import { currentFrame } from "../../context/index.js";
import { limiterReport } from "../../internal/limiter-report.js";
import { openValues, type Run } from "../../lifespan/index.js";
import type { ProvidedLimiter } from "../run/run-stats.js";

/** The limiters among what the environment of `run` provides, as they stand. */
export function providedLimiters(run: Run | undefined): readonly ProvidedLimiter[] {
  const frame = run?.enter(currentFrame);
  const limiters: ProvidedLimiter[] = [];
  for (const [key, value] of frame?.source === undefined ? [] : openValues(frame.source)) {
    const report = limiterReport(value);
    if (report !== undefined) limiters.push({ key, ...report });
  }
  return limiters;
}
