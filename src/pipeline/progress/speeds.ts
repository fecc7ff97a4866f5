import type { FunctionStats } from "../run/run-stats.js";
import type { ProgressReport } from "./reporter.js";

/** How far back a speed looks: long enough to be steady, short enough to show what a pause or a new rate does. */
const WINDOW_MS = 5_000;
/** The least time between two samples, so that their number does not depend on how often one looks. */
const STEP_MS = 250;
/** From a shorter time one cannot tell a speed. */
const SHORTEST_MS = 1_000;

interface Sample {
  readonly at: number;
  readonly ended: ReadonlyMap<string, number>;
}

/** What the functions of one run do in a second, over its last few seconds. */
export class Speeds {
  readonly #samples: Sample[] = [];
  #now = 0;

  /** Takes note of a report; they come in the order of time. */
  add({ elapsedMs, stats }: ProgressReport): void {
    const samples = this.#samples;
    this.#now = elapsedMs;
    const last = samples.at(-1);
    if (last !== undefined && elapsedMs - last.at < STEP_MS) return;
    samples.push({ at: elapsedMs, ended: new Map(stats.functions.map((f) => [f.name, endedCalls(f)])) });
    while (samples[1] !== undefined && samples[1].at <= elapsedMs - WINDOW_MS) samples.shift();
  }

  /** Calls that end in a second; undefined for a function that is known for too short a time. */
  readonly of = (f: FunctionStats): number | undefined => {
    const first = this.#samples.find(({ ended }) => ended.has(f.name));
    return first && speed(endedCalls(f) - (first.ended.get(f.name) ?? 0), this.#now - first.at);
  };
}

/** The same over all of a run that has ended: how its last few seconds were is of no use any more. */
export function speedsOverAll({ elapsedMs }: ProgressReport): Speeds["of"] {
  return (f) => speed(endedCalls(f), elapsedMs);
}

/** Calls a second; undefined where the time is too short to tell. */
function speed(calls: number, ms: number): number | undefined {
  return ms >= SHORTEST_MS && calls >= 0 ? (calls / ms) * 1_000 : undefined;
}

/** The calls that have come to their end, well or not. */
export function endedCalls({ done, failed }: FunctionStats): number {
  return done + failed;
}
