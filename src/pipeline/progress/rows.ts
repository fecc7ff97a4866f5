import type { FunctionStats, ProvidedLimiter } from "../run/run-stats.js";
import { mostLeft, outlookOf } from "./outlook.js";
import type { ProgressReport, RunOutcome } from "./reporter.js";
import { cleanName, countText, durationText, rateText } from "./text.js";

/** What is shown of a run, at one moment. */
export interface View {
  readonly report: ProgressReport;
  /** Undefined while the run goes on. */
  readonly outcome: RunOutcome | undefined;
  /** Calls that end in a second; undefined where that is not known. */
  readonly speedOf: (f: FunctionStats) => number | undefined;
}

/** What is said of one thing, its name first. A text that is empty says nothing. */
export type Row = readonly string[];

export interface FunctionRow {
  /** Name, counts, percentage, speed, failures, in flight. */
  readonly texts: Row;
  /** 0 to 100; undefined where it is not known. */
  readonly percent: number | undefined;
}

/** "crawl 12 s", or how it has ended. */
export function headline({ report: { app, elapsedMs }, outcome }: View): string {
  const name = cleanName(app);
  // Whole seconds while it goes on, so that a display does not change ten times in one.
  if (outcome === undefined) return `${name} ${durationText(Math.floor(elapsedMs / 1_000) * 1_000)}`;
  return `${name} ${outcome} ${outcome === "done" ? "in" : "after"} ${durationText(elapsedMs)}`;
}

/**
 * The functions in the order of the report, in `most` rows at most: where there are more, those in which most happens,
 * and a row for all others.
 */
export function functionRows(view: View, most: number): FunctionRow[] {
  const { report, speedOf } = view;
  const { functions } = report.stats;
  if (most < 1) return [];
  if (functions.length <= most) return functions.map((f) => functionRow(f, view));
  const speed = (f: FunctionStats): number => speedOf(f) ?? 0;
  // By what ends first: many calls in flight may only wait.
  const active = [...functions].sort((a, b) => speed(b) - speed(a) || b.inFlight - a.inFlight);
  const chosen = new Set(active.slice(0, most - 1));
  const others = functions.filter((f) => !chosen.has(f));
  const failed = others.reduce((sum, f) => sum + f.failed, 0);
  return [
    ...functions.filter((f) => chosen.has(f)).map((f) => functionRow(f, view)),
    { texts: [`and ${String(others.length)} more`, "", "", "", failedText(failed), ""], percent: undefined },
  ];
}

function functionRow(f: FunctionStats, { speedOf, outcome }: View): FunctionRow {
  const percent = isKnown(f.percent) ? Math.min(Math.max(f.percent, 0), 100) : undefined;
  const of = isKnown(f.expected) ? `/${countText(f.expected)}` : "";
  const speed = speedOf(f);
  const isAtWork = outcome !== undefined || f.inFlight > 0 || speed !== 0;
  const texts = [
    cleanName(f.name),
    countText(f.done) + of,
    percent === undefined ? "" : `${String(Math.floor(percent))}%`,
    isKnown(speed) && isAtWork ? rateText(speed) : "",
    failedText(f.failed),
    f.inFlight > 0 ? `${countText(f.inFlight)} in flight` : "",
  ];
  return { texts, percent };
}

/** Empty when none has failed. */
export function failedText(failed: number): string {
  return failed > 0 ? `${countText(failed)} failed` : "";
}

/** The limiters that limit anything: name, limit, line, pause, time left. */
export function limiterRows({ report, outcome }: View): Row[] {
  const { functions, limiters } = report.stats;
  const work = outcome === undefined ? mostLeft(functions) : undefined;
  return limiters.flatMap((limiter) => {
    const row = limiterRow(limiter, work);
    return row === undefined ? [] : [row];
  });
}

function limiterRow(limiter: ProvidedLimiter, work: FunctionStats | undefined): Row | undefined {
  const outlook = outlookOf(limiter, work);
  if (outlook === undefined) return undefined;
  const { dimension, leftMs } = outlook;
  const of = dimension.name === undefined ? "" : `${cleanName(dimension.name)} `;
  return [
    cleanName(limiter.key),
    `${of}limit ${rateText(dimension.maxRowsPerSecond)}`,
    limiter.queued > 0 ? `${countText(limiter.queued)} queued` : "",
    limiter.pausedForMs > 0 ? `paused ${durationText(limiter.pausedForMs)}` : "",
    leftMs === undefined ? "" : `${durationText(leftMs)} left`,
  ];
}

function isKnown(n: number | undefined): n is number {
  return Number.isFinite(n);
}
