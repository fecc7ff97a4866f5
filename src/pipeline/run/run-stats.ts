import type { LimiterReport } from "../../internal/limiter-report.js";

/** How often something was called. */
export interface CallCounts {
  /** Calls that have started. */
  readonly started: number;
  /** Calls that have ended well. */
  readonly done: number;
  /** Calls that have thrown or rejected. */
  readonly failed: number;
  /** Calls that have started and not ended. */
  readonly inFlight: number;
  /**
   * How many calls there will be in all, as far as that is known: from fan-outs over arrays, Sets and Maps, and from
   * what has started. Undefined while a source of unknown length is read. Never below `started`.
   */
  readonly expected: number | undefined;
  /** `done + failed` of `expected`, from 0 to 100; undefined when `expected` is, and 100 when that is 0. */
  readonly percent: number | undefined;
}

/** The calls of one function, by its name: of `fn` or `batched`, or a plain one that a fan-out or a mount has called. */
export interface FunctionStats extends CallCounts {
  /** The name of the function. */
  readonly name: string;
}

/** A limiter or budget that the environment of a run provides. */
export interface ProvidedLimiter extends LimiterReport {
  /** The name of its context key. */
  readonly key: string;
}

/** What a run has done so far, read at one moment. */
export interface RunStats {
  /** In the order in which they were first called, or announced by a fan-out. */
  readonly functions: readonly FunctionStats[];
  /** All functions together. */
  readonly total: CallCounts;
  /** Those of the environment itself before those of its parent, in the order in which they were provided; after the end of the run as they stood then. */
  readonly limiters: readonly ProvidedLimiter[];
}

/** A run under way, or its end. */
export type RunSnapshot<R> =
  | { readonly state: "running"; readonly stats: RunStats }
  | { readonly state: "ready"; readonly stats: RunStats; readonly result: R };
