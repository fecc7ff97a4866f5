import type { Frame } from "../context/index.js";
import type { CountedRun } from "./environment-run.js";

/**
 * The frame that code in `frame` begins something in. Code left over from a run that has ended (a timer that it set)
 * belongs to what is around that run: else a job that schedules itself would build an endless chain of runs.
 */
export function begunIn(frame: Frame | undefined): Frame | undefined {
  let around = frame;
  for (let run = runOf(around); run?.ended === true; run = runOf(around)) around = run.begunIn;
  return around;
}

/** The run that a frame belongs to. */
export function runOf(frame: Frame | undefined): CountedRun | undefined {
  return frame?.run as CountedRun | undefined;
}

/** A frame, then the frame in which its run was begun, and so on outwards. */
export function* outwards(frame: Frame | undefined): Generator<Frame, void, void> {
  for (let at = frame; at !== undefined; at = runOf(at)?.begunIn) yield at;
}
