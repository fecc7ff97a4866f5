/// <reference lib="esnext.disposable" preserve="true" />
import { followSignal } from "../cancellation/index.js";
import { EAGER } from "../context/index.js";
import { requireOptions, requireSignal } from "../internal/checks.js";
import { Deferred } from "../internal/deferred.js";
import { beginRun, type Environment, type Run } from "../lifespan/index.js";
import { RunAbortedError } from "./errors.js";
import { providedLimiters } from "./provided-limiters.js";
import type { ProvidedLimiter, RunSnapshot, RunStats } from "./run-stats.js";
import { RunTally } from "./run-tally.js";
import { RunChanges } from "./run-changes.js";
import { workOf } from "./run-work.js";

export interface RunOptions {
  /** Aborts the run, with the signal's reason, when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A run that is under way. It can be awaited, any number of times, like the promise of its result; note that an async
 * function that returns it awaits it too.
 */
export interface RunHandle<R> extends AsyncDisposable {
  then: Promise<R>["then"];
  catch: Promise<R>["catch"];
  finally: Promise<R>["finally"];
  /** The result as a plain promise. */
  result(): Promise<R>;
  /** What the run has done so far: the calls of its functions, and the limiters that its environment provides. */
  stats(): RunStats;
  /**
   * Follows the run: a "running" snapshot at once and after each change, then exactly one that is "ready", with the
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

export interface RunPlan<R> {
  /** The name of the app. */
  readonly name: string;
  readonly environment: Environment;
  readonly concurrency: number | undefined;
  readonly main: () => R;
}

export class StartedRun<R> implements RunHandle<Awaited<R>> {
  readonly #over = new Deferred<void>();
  readonly [EAGER] = this.#over.promise;
  readonly #plan: RunPlan<R>;
  readonly #result = new Deferred<Awaited<R>>();
  readonly #tally = new RunTally();
  readonly #changes = new RunChanges();
  #run: Run | undefined;
  /** How the limiters stood when the run ended. */
  #limiters: readonly ProvidedLimiter[] | undefined;
  #isOver = false;
  #unfollow: (() => void) | undefined;

  /** Begins the run, in the frame of the code that calls this. */
  constructor(plan: RunPlan<R>, options: RunOptions | undefined) {
    this.#plan = plan;
    void this.#execute(options);
  }

  then: Promise<Awaited<R>>["then"] = (onResult, onError) => this.#result.promise.then(onResult, onError);
  catch: Promise<Awaited<R>>["catch"] = (onError) => this.#result.promise.catch(onError);
  finally: Promise<Awaited<R>>["finally"] = (onEnd) => this.#result.promise.finally(onEnd);

  result(): Promise<Awaited<R>> {
    return this.#result.promise;
  }

  stats(): RunStats {
    const limiters = this.#limiters ?? providedLimiters(this.#run);
    return { functions: this.#tally.functions(), total: this.#tally.total(), limiters };
  }

  async *watch(): AsyncGenerator<RunSnapshot<Awaited<R>>, void, void> {
    this.#tally.onChange = () => {
      this.#changes.happened();
    };
    let seen: number | undefined;
    while (!this.#isOver) {
      if (seen === this.#changes.version) {
        await this.#changes.next();
      } else {
        seen = this.#changes.version;
        yield { state: "running", stats: this.stats() };
      }
    }
    const result = await this.#result.promise;
    yield { state: "ready", stats: this.stats(), result };
  }

  abort(reason?: unknown): void {
    this.#abort(
      reason === undefined
        ? new RunAbortedError(
            `The run of app "${this.#plan.name}" was aborted: abort() was called on its handle, or the handle was ` +
              `disposed. Pass a reason to abort(reason) to see it here.`,
          )
        : reason,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOver) return;
    this.abort();
    await this.#result.promise.then(ignore, ignore);
  }

  async #execute(options: RunOptions | undefined): Promise<void> {
    let run: Run;
    try {
      const signal = requireSignal(requireOptions("options", options)?.signal);
      if (signal !== undefined) {
        this.#unfollow = followSignal(signal, (reason) => {
          this.#abort(reason);
        });
      }
      if (this.#isOver) return;
      const { environment } = this.#plan;
      // One that is stopping is not waited for: beginning the run in it fails.
      if (environment.state !== "running" && environment.state !== "stopping") await environment.start();
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- aborted while it was starting
      if (this.#isOver) return;
      run = beginRun(environment);
    } catch (error) {
      this.#end();
      this.#result.reject(error);
      return;
    }
    this.#run = run;
    if (run.scope.aborted) {
      // The code that began the run has come to its end while the environment started.
      run.end();
      this.#end();
      this.#result.reject(run.scope.abortReason);
      return;
    }
    await this.#runMain(run);
  }

  async #runMain(run: Run): Promise<void> {
    const work = workOf(run, this.#plan.concurrency);
    work.tally = this.#tally;
    let settle: () => void;
    try {
      const result = await run.enter(this.#plan.main);
      settle = () => {
        this.#result.resolve(result);
      };
    } catch (error) {
      settle = () => {
        this.#result.reject(error);
      };
    }
    await work.whenQuiet();
    this.#end();
    run.end();
    if (run.scope.aborted) this.#result.reject(run.scope.abortReason);
    else settle();
  }

  #abort(reason: unknown): void {
    if (this.#isOver) return;
    const run = this.#run;
    if (run === undefined) {
      this.#end();
      this.#result.reject(reason);
      return;
    }
    // In the frame of the run, for listeners of its signal run in the frame of who aborts it.
    run.enter(() => {
      run.scope.abort(reason);
    });
  }

  #end(): void {
    this.#isOver = true;
    this.#limiters = providedLimiters(this.#run);
    this.#changes.happened();
    this.#tally.onChange = undefined; // the functions of the run keep the tally until their next call
    this.#over.resolve();
    this.#unfollow?.();
  }
}

function ignore(): void {
  return undefined;
}
