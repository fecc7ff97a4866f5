/// <reference lib="esnext.disposable" preserve="true" />
import type { ContextKey } from "../context/index.js";
import { requireFunction } from "../internal/checks.js";
import type { EnvironmentBuilder, Lifespan } from "./builder.js";
import { CORE } from "./core.js";
import { looksLikeGenerator } from "./drive-generator.js";
import { EnvironmentCore } from "./environment-core.js";
import { LifespanError } from "./errors.js";
import type { EnvironmentOptions } from "./options.js";
import { resolveOptions } from "./options.js";
import type { EnvironmentState } from "./phase.js";
import { runBody } from "./run-body.js";
import type { ValueDescription } from "./values.js";

/**
 * Shared values with a life: a lifespan opens them, runs reach them with `useContext`, and `stop()` closes them after
 * the last run has ended. It can be started again after a stop; each start has values of its own.
 *
 * @example
 * await using environment = await new Environment({ lifespan: services }).start();
 * await environment.run(() => handle(request));
 */
export class Environment implements AsyncDisposable {
  /** For messages and reports. */
  readonly name: string;
  /** @internal */
  declare readonly [CORE]: EnvironmentCore;

  /**
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) for an option that cannot be.
   * @throws LifespanError (`LIFESPAN_INVALID`) for a lifespan that is not a function.
   */
  constructor(options?: EnvironmentOptions) {
    const settings = resolveOptions(options);
    this.name = settings.name;
    Object.defineProperty(this, CORE, { value: new EnvironmentCore(this, settings) });
  }

  /**
   * "idle" before the first start and after one that failed, "starting" until `start()` settles, "stopping" from the
   * call of `stop()`, or the start timeout, until everything is closed.
   */
  get state(): EnvironmentState {
    return this[CORE].state;
  }

  /**
   * Runs the lifespan up to its `yield`, after that of the parent. Concurrent calls are one start; on a running
   * environment it does nothing; while stopping it waits for the stop and then starts again. A start that fails closes
   * what it had opened, last first, and is not remembered.
   *
   * @returns The environment.
   * @throws The lifespan's own error; when its cleanup failed too, an AggregateError of that error and the cleanup's,
   *   with that error as `cause`.
   * @throws LifespanError (`LIFESPAN_INVALID`) when the lifespan is no generator function or does not yield, and after
   *   `startTimeoutMs`. The lifespan is then driven on and what still arrives is closed; `start()` and `stop()` wait
   *   for that.
   * @throws MissingContextError (`CONTEXT_MISSING`) when a key of `requires` is not provided.
   * @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when `stop()` comes before it is done, and when it is called by
   *   code that the start or stop under way waits for.
   */
  async start(): Promise<this> {
    await this[CORE].start();
    return this;
  }

  /**
   * Refuses new runs and tells the running ones to come to an end; after `drainTimeoutMs` aborts those that are left
   * and waits for them; stops the children; runs the code after the `yield` with everything still open; then closes
   * what is owned and what was deferred, last first, one after the other, whatever fails. A second call joins the
   * first; on an environment that does not run it does nothing.
   *
   * While starting it aborts `builder.signal`, so that `start()` rejects, and waits until the lifespan has come to its
   * yield or end and everything is closed again.
   *
   * @param reason - What aborted runs, and the acquires that wait in them, reject with. Default: an
   *   EnvironmentStateError.
   * @throws The error of closing as it is; several as an AggregateError, in the order in which they happened.
   * @throws LifespanError (`LIFESPAN_INVALID`) for a lifespan that yields twice, and for what took longer than
   *   `closeTimeoutMs`.
   * @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when it is called by code that the stop has to wait for.
   */
  stop(reason?: unknown): Promise<void> {
    return this[CORE].stop(reason);
  }

  /** `stop()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /**
   * What the environment or a parent provides, else the key's default. Overrides of `withContext` are not looked at.
   * While stopping, what is not closed yet.
   *
   * @throws MissingContextError (`CONTEXT_MISSING`) when there is none.
   * @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when the environment does not run, and for a closed value.
   */
  get<T>(key: ContextKey<T>): T {
    return this[CORE].get(key) as T;
  }

  /** Like `get`, but undefined when there is none, when it is closed, and when the environment does not run. */
  tryGet<T>(key: ContextKey<T>): T | undefined {
    return this[CORE].tryGet(key) as T | undefined;
  }

  /**
   * Calls `body` in the environment, for code that is no App: servers, jobs, tests. It counts as a run, which `stop()`
   * waits for, until it returns or throws; until its promise settles; until the generator it returned ends (when the
   * run is aborted, the generator's `return()` is called). A lazy thenable is settled inside.
   *
   * @returns What `body` returns; a promise or generator as one that settles or steps alike.
   * @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when the environment does not run. While it stops, code that is
   *   part of a run of it may still begin runs.
   */
  run<R>(body: () => R): R {
    requireFunction("body", body);
    return runBody(this[CORE].beginRun(), this.name, body);
  }

  /**
   * Makes a child: it provides what `overrides` provides, and else finds what this environment provides. For tests and
   * tenants. It has the clock and time limits of this environment. Starting it starts this environment first; stopping
   * it leaves this environment as it is.
   *
   * @param overrides - Called at each start of the child, with a builder of its own.
   */
  child(overrides: (builder: EnvironmentBuilder) => void | Promise<void>): Environment {
    requireFunction("overrides", overrides);
    const { clock, startTimeoutMs, drainTimeoutMs, closeTimeoutMs } = this[CORE].settings;
    const name = `${this.name}/child`;
    return new Environment({
      name,
      parent: this,
      lifespan: lifespanOf(overrides, name),
      clock,
      startTimeoutMs,
      drainTimeoutMs,
      closeTimeoutMs,
    });
  }

  /** What is provided here, parents left out, in the order of providing; nothing when the environment does not run. */
  describe(): readonly ValueDescription[] {
    return this[CORE].describe();
  }
}

function lifespanOf(
  overrides: (builder: EnvironmentBuilder) => void | Promise<void>,
  environment: string,
): Lifespan {
  return async function* overriding(builder) {
    const result: unknown = overrides(builder);
    if (looksLikeGenerator(result)) {
      throw new LifespanError(
        overrides,
        environment,
        "is a generator function, but child() takes a function that provides and returns. For a lifespan use " +
          "new Environment({ parent, lifespan }).",
      );
    }
    await result;
    yield;
  };
}
