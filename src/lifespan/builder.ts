/// <reference lib="esnext.disposable" preserve="true" />
import type { Clock } from "../clock.js";
import type { ContextKey, ExceptionHandler } from "../context/index.js";

/**
 * What a lifespan opens its resources with. Values are provided before the `yield`; when the environment stops, what
 * it owns is closed last first, one after the other, after the code behind the `yield`.
 */
export interface EnvironmentBuilder {
  /**
   * Provides a value. Without a disposer it is borrowed: the environment does not close it. `undefined`, `null`, `0`
   * and `false` are values like any other.
   *
   * @param dispose - Closes the value when the environment stops or its start fails; may return a promise.
   * @returns The value.
   * @throws DuplicateProvideError (`PROVIDE_DUPLICATE`) when the key, or another key of its name, is provided here
   *   already. A value that came with a disposer is closed all the same, together with the others.
   * @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when the start is over.
   */
  provide<T>(key: ContextKey<T>, value: NoInfer<T>, dispose?: (value: T) => void | PromiseLike<void>): T;
  /**
   * Provides a resource and owns it: closes it through `Symbol.asyncDispose`, else `Symbol.dispose`. Its place in the
   * order of closing goes by its arrival. The start waits for what still has to arrive at the `yield`; what has not
   * arrived when the lifespan throws is closed on arrival.
   *
   * @param resource - The resource, or a promise of it.
   * @returns The resource. Rejects with the promise's own error; the key is then free again.
   * @throws DuplicateProvideError (`PROVIDE_DUPLICATE`) as `provide` does; the refused resource is closed all the same.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when the resource has neither method.
   * @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when the start is over.
   */
  provideWith<T, V extends NoInfer<T> & (Disposable | AsyncDisposable)>(
    key: ContextKey<T>,
    resource: V | PromiseLike<V>,
  ): Promise<V>;
  /**
   * Provides a value that is made at its first use, once, whoever asks first and however many ask at a time. `make`
   * runs in the context of the environment. When it throws, or the promise it gave rejects, that is not remembered:
   * the next use makes it again. A value that was never used is neither made nor closed by the stop.
   *
   * @param make - Must not need the value itself, directly or by way of other lazy values: that is a LifespanError
   *   (`LIFESPAN_INVALID`) with the path.
   * @param dispose - Closes the value; its place in the order of closing goes by when it was made. A promise is
   *   waited for first, and one that rejects has nothing to close.
   * @throws DuplicateProvideError (`PROVIDE_DUPLICATE`) as `provide` does.
   * @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when the start is over.
   */
  provideLazy<T>(
    key: ContextKey<T>,
    make: () => NoInfer<T>,
    dispose?: (value: T) => void | PromiseLike<void>,
  ): void;
  /**
   * Calls `cleanup` when the environment closes, in its place among the resources: after what came later, before what
   * came earlier. May be called after the start too, until the environment has closed.
   *
   * @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when the environment has closed.
   */
  defer(cleanup: () => void | PromiseLike<void>): void;
  /**
   * What was provided so far, here or by the parent; else the key's default.
   *
   * @throws MissingContextError (`CONTEXT_MISSING`) when there is none.
   * @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when the value has not arrived yet, or is closed already.
   */
  get<T>(key: ContextKey<T>): T;
  /**
   * Sets who is told of failures of what is mounted in runs of the environment, and of its children when they have no
   * handler of their own or that one throws. Those set with `withExceptionHandler` inside a run are asked first. Without
   * any, a failure is one line: to the progress reporter of the run, else on stderr.
   *
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `handler` is not a function.
   * @throws LifespanError (`LIFESPAN_INVALID`) when the environment has one already.
   * @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when the start is over.
   */
  setExceptionHandler(handler: ExceptionHandler): void;
  /** Aborted when `stop()` or the start timeout came while starting. */
  readonly signal: AbortSignal;
  /** That of the environment: for limiters and all else that keeps time, so that tests replace all clocks at once. */
  readonly clock: Clock;
}

/**
 * Opens what an environment shares, yields once, and closes what it does not leave to the builder.
 *
 * @example
 * lifespan(async function* (builder) {
 *   await builder.provideWith(DB, Database.connect(url));
 *   yield; // the apps run here; what follows is cleanup
 * });
 */
export type Lifespan = (
  builder: EnvironmentBuilder,
) => Generator<void, void, void> | AsyncGenerator<void, void, void>;
