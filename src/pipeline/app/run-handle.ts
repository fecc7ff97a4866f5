/// <reference lib="esnext.disposable" preserve="true" />
import type { ProgressReporter } from "../progress/reporter.js";
import type { RunSnapshot, RunStats } from "../run/run-stats.js";

/** Options of one run. */
export interface RunOptions {
  /** Aborts the run, with the signal's reason, when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Shows how the run goes on: `true` on stderr, redrawn on a terminal and as plain lines elsewhere; a reporter shows it
   * in its own way. Default: silent.
   */
  readonly progress?: boolean | ProgressReporter | undefined;
}

/**
 * A run that is under way. It can be awaited, any number of times, like the promise of its result; note that an async
 * function that returns it awaits it too.
 */
export interface RunHandle<R> extends AsyncDisposable {
  /** As of the promise of the result. */
  then: Promise<R>["then"];
  /** As of the promise of the result. */
  catch: Promise<R>["catch"];
  /** As of the promise of the result. */
  finally: Promise<R>["finally"];
  /** The result as a plain promise. */
  result(): Promise<R>;
  /** What the run has done so far: the calls of its functions, and the limiters that its environment provides. */
  stats(): RunStats;
  /**
   * Follows the run: a "running" snapshot at once and after each call or fan-out that begins or ends, then exactly one that is "ready", with the
   * result. A watcher that is slow misses what lies between, never the last. Each call of `watch` is a watcher of its
   * own; leaving its loop does not abort the run. When the run fails, the loop throws what the handle rejects with.
   */
  watch(): AsyncGenerator<RunSnapshot<R>, void, void>;
  /**
   * Aborts the run: {@link useSignal} in it is aborted, what waits in it stops waiting, and once main has ended the
   * handle rejects with `reason`, whatever main returned. Does nothing when the run is over.
   *
   * @param reason - Default: a RunAbortedError.
   */
  abort(reason?: unknown): void;
  /** Aborts the run and waits for its end; does not throw. Does nothing when the run is over. */
  [Symbol.asyncDispose](): Promise<void>;
}
