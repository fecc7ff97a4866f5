import type { Scope } from "../cancellation/index.js";
import type { Clock } from "../clock.js";

/**
 * One call that an environment counts as a run, from its begin to the settling of its result: what `stop()` waits for.
 * Other copies of the package read it from the frame, so it holds plain data and methods.
 */
export interface Run {
  /** The environment it belongs to; compared by identity. */
  readonly environment: object;
  /** The run whose code began this one; undefined when it began outside every run. */
  readonly outer: Run | undefined;
  /** Ends when the run is aborted, also by the end of a drain. */
  readonly scope: Scope;
  /** It is over, and nothing of it is left: nobody waits for it any more. */
  readonly ended: boolean;
  /** What time limits in this run are measured on. */
  readonly clock: Clock;
  /**
   * Set from the moment that the environment was told to stop: main starts no further items. Not set in a run that is
   * part of an item in flight, which goes on with all it does.
   */
  readonly stopRequest: { readonly reason: unknown } | undefined;
  /**
   * Calls `listener` once, in the frame of the code that adds it, when the environment is told to stop; at once when it
   * was told already.
   *
   * @returns Takes the listener back.
   */
  onStopRequest(listener: (reason: unknown) => void): () => void;
  /** Calls `body` in the frame of the run, with the overrides of the code that began it. */
  enter<R>(body: () => R): R;
  /**
   * The environment goes on to count the run after its end, until the returned function is called: for work of the run
   * that nobody awaits any more. Does nothing when the run is not counted any more.
   */
  hold(): () => void;
  /** The run is over; the environment no longer waits for it. Calling it twice does nothing. */
  end(): void;
}
