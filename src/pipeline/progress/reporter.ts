import { InvalidArgumentError } from "../../errors.js";
import { requireFunction } from "../../internal/checks.js";
import type { RunStats } from "../run/run-stats.js";

/** How a run stands, as it is told to a reporter. */
export interface ProgressReport {
  /** The name of the app. */
  readonly app: string;
  /** Milliseconds since the run began, on the clock of its environment. */
  readonly elapsedMs: number;
  /** What the run has done so far. */
  readonly stats: RunStats;
}

/** How a run has ended; "stopped" is one whose main gave up because its environment was told to stop. */
export type RunOutcome = "done" | "failed" | "aborted" | "stopped";

/**
 * Shows people how a run goes on. Its methods are called in the context of the code that called `run`, one at a time:
 * `start`, then `update` and `log`, then `stop`. One that throws or rejects harms nothing, and the next is called as if
 * nothing had happened.
 *
 * @example
 * const bar: ProgressReporter = {
 *   intervalMs: 1_000,
 *   update: ({ stats }) => element.setAttribute("value", String(stats.total.percent ?? 0)),
 * };
 */
export interface ProgressReporter {
  /** Milliseconds between two updates: finite, above 0. Read once a run. Default 100. */
  readonly intervalMs?: number | undefined;
  /** The run has begun. */
  readonly start?: ((report: ProgressReport) => void) | undefined;
  /** `intervalMs` are over, whether anything has changed or not. */
  update(report: ProgressReport): void;
  /**
   * A line for people, such as a failure in the background, that must not disturb what is redrawn. It may hold line
   * breaks, and ends with none. Without this method, or when it throws, the line goes where it went without progress.
   */
  readonly log?: ((line: string) => void) | undefined;
  /** The run has ended; nothing follows. */
  readonly stop?: ((report: ProgressReport, outcome: RunOutcome) => void) | undefined;
}

/**
 * What `progress` asks for: true for the terminal, a reporter, or undefined for silence.
 *
 * @throws InvalidArgumentError (`ARGUMENT_INVALID`) for anything else, and for a reporter that is none.
 */
export function requireProgress(
  progress: boolean | ProgressReporter | undefined,
): true | ProgressReporter | undefined {
  if (progress === undefined || progress === false) return undefined;
  if (progress === true) return true;
  const given = progress as { readonly [K in keyof ProgressReporter]?: unknown } | null;
  if (typeof given !== "object" || typeof given?.update !== "function") {
    throw new InvalidArgumentError("progress", "a boolean, or a reporter with update()", progress);
  }
  for (const method of ["start", "log", "stop"] as const) {
    if (given[method] !== undefined) requireFunction(`progress.${method}`, given[method]);
  }
  requireInterval(progress.intervalMs);
  return progress;
}

/** Returns `intervalMs` when it is a time between two updates, or undefined; else throws. */
export function requireInterval(intervalMs: number | undefined): number | undefined {
  if (intervalMs === undefined) return undefined;
  if (typeof intervalMs === "number" && intervalMs > 0 && intervalMs < Infinity) return intervalMs;
  throw new InvalidArgumentError("intervalMs", "a finite number of milliseconds above 0", intervalMs);
}
