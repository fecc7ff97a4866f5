/// <reference lib="esnext.disposable" preserve="true" />
import { followSignal } from "../../cancellation/index.js";
import { EAGER } from "../../context/index.js";
import { callTracer } from "../../internal/call-tracer.js";
import { requireOptions, requireSignal } from "../../internal/checks.js";
import { Deferred } from "../../internal/deferred.js";
import { beginRun, clockOf, type Environment, type Run } from "../../lifespan/index.js";
import { RunAbortedError } from "../errors.js";
import { providedLimiters } from "./provided-limiters.js";
import { ProgressDriver } from "../progress/driver.js";
import { requireProgress, type RunOutcome } from "../progress/reporter.js";
import type { RunHandle, RunOptions } from "./run-handle.js";
import type { ProvidedLimiter, RunSnapshot, RunStats } from "../run/run-stats.js";
import { RunTally } from "../run/run-tally.js";
import { RunChanges } from "./run-changes.js";
import { workOf } from "../run/run-work.js";

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
  #progress: ProgressDriver | undefined;
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
    if (!this.#isOver) {
      this.#tally.onChange = () => {
        this.#changes.happened();
      };
    }
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
      const { signal, progress } = requireOptions("options", options) ?? {};
      requireSignal(signal);
      const reporter = requireProgress(progress);
      const { environment, name } = this.#plan;
      if (reporter !== undefined) {
        const clock = clockOf(environment);
        this.#progress = new ProgressDriver(reporter, name, clock, () => this.stats());
      }
      if (signal !== undefined) {
        this.#unfollow = followSignal(signal, (reason) => {
          this.#abort(reason);
        });
      }
      if (this.#isOver) return;
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
    const progress = this.#progress;
    if (progress !== undefined) {
      work.log = (line) => progress.log(line);
      progress.start();
    }
    let outcome: RunOutcome = "done";
    let settle: () => void;
    try {
      const result = await this.#callMain(run);
      settle = () => {
        this.#result.resolve(result);
      };
    } catch (error) {
      outcome = run.stopRequest !== undefined && error === run.stopRequest.reason ? "stopped" : "failed";
      settle = () => {
        this.#result.reject(error);
      };
    }
    // Not a turn may lie between the last look and the end: what is mounted in it would be left behind.
    for (let quiet = work.whenQuiet(); quiet !== undefined; quiet = work.whenQuiet()) await quiet;
    this.#progress?.stop(run.scope.aborted ? "aborted" : outcome);
    this.#end();
    run.end();
    if (run.scope.aborted) this.#result.reject(run.scope.abortReason);
    else settle();
  }

  #callMain(run: Run): R | Promise<R> {
    const { name, main } = this.#plan;
    const tracer = callTracer();
    if (tracer === undefined) return run.enter(main);
    return tracer.around({ kind: "run", name }, async () => {
      const result = await run.enter(main);
      if (run.scope.aborted) throw run.scope.abortReason;
      return result;
    });
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
