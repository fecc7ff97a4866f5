import { describeValue, TidegateError } from "../errors.js";
import type { AnyContextKey } from "../context/index.js";

/** A key was provided twice in one environment, or two keys of one name were. */
export class DuplicateProvideError extends TidegateError {
  override readonly name = "DuplicateProvideError";
  readonly code = "PROVIDE_DUPLICATE";
  /** The name of the key. */
  readonly key: string;
  /** The name of the environment. */
  readonly environment: string;

  constructor(key: AnyContextKey, environment: string, isSameKey: boolean) {
    super(
      isSameKey
        ? `Context key "${key.name}" is provided already in environment "${environment}". To replace a value, use a ` +
            `child environment (environment.child(...)) or withContext(key, value, body).`
        : `Another context key named "${key.name}" is provided already in environment "${environment}". Names are ` +
            `unique within an environment: rename one of the two, or, if they are meant to be one key, make sure ` +
            `that the module that makes it is loaded once.`,
    );
    this.key = key.name;
    this.environment = environment;
  }
}

/** A lifespan is not what it must be, or did not come to its yield, or to its end, in the time it was given. */
export class LifespanError extends TidegateError {
  override readonly name = "LifespanError";
  readonly code = "LIFESPAN_INVALID";
  /** The name of the lifespan function; empty for one without a name. */
  readonly lifespan: string;
  /** The name of the environment. */
  readonly environment: string;

  /**
   * @param lifespan - The function, or what came in its place.
   * @param problem - What is wrong and what to do, to follow the name.
   */
  constructor(lifespan: unknown, environment: string, problem: string, options?: ErrorOptions) {
    const name = nameOf(lifespan);
    super(`Lifespan ${name} of environment "${environment}" ${problem}`, options);
    this.lifespan = typeof lifespan === "function" ? lifespan.name : name;
    this.environment = environment;
  }
}

/** The environment is in a state in which this cannot be done. */
export class EnvironmentStateError extends TidegateError {
  override readonly name = "EnvironmentStateError";
  readonly code = "ENVIRONMENT_STATE";
  /** The name of the environment. */
  readonly environment: string;
  /** The state that the environment was in. */
  readonly state: string;

  /** @param problem - What cannot be done and what to do, as a sentence of its own. */
  constructor(environment: string, state: string, problem: string, options?: ErrorOptions) {
    super(`Environment "${environment}" is ${state}. ${problem}`, options);
    this.environment = environment;
    this.state = state;
  }
}

/** The name of a lifespan for messages. */
export function nameOf(lifespan: unknown): string {
  if (lifespan === undefined) return "(none)";
  if (typeof lifespan !== "function") return describeValue(lifespan);
  return lifespan.name === "" ? "(anonymous)" : `"${lifespan.name}"`;
}

export const STARTS_ITSELF =
  "start() was called by code that the start or stop waits for: it would wait for itself.";

export const STOPS_ITSELF =
  "stop() was called by code that the stop has to wait for (a run, the lifespan or a closer): it would wait " +
  "for itself. Call it from outside, or let main return and stop after app.run().";
