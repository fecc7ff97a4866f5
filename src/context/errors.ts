import { TidegateError } from "../errors.js";
import type { ValueSource } from "./frame.js";
import type { AnyContextKey } from "./key.js";

/** The environment runs, but nobody has provided the key. */
export class MissingContextError extends TidegateError {
  override readonly name = "MissingContextError";
  readonly code = "CONTEXT_MISSING";
  /** The name of the key. */
  readonly key: string;
  /** The name of the environment. */
  readonly environment: string;
  /** The state of the environment. */
  readonly state: string;
  /** The names of the keys that are provided. */
  readonly provided: readonly string[];

  constructor(key: AnyContextKey, source: ValueSource) {
    const provided = source.keys().map(({ name }) => name);
    const remedy = provided.includes(key.name)
      ? "Another key of that name is provided: the module that makes the key was loaded twice (two copies of a " +
        "package, or a reload by a dev server). Make sure that one module instance makes it; after a reload, stop " +
        "the environment first (import.meta.hot?.dispose(() => stop()))."
      : "Provide it in the lifespan, or around this call with withContext(key, value, body).";
    super(
      `Context key "${key.name}" has no value in environment "${source.name}" (${source.state}). ` +
        `Keys provided: ${provided.join(", ") || "none"}. ${remedy}`,
    );
    this.key = key.name;
    this.environment = source.name;
    this.state = source.state;
    this.provided = provided;
  }
}

/** A value was asked for outside every environment, or work mounted outside every run. */
export class NoEnvironmentError extends TidegateError {
  override readonly name = "NoEnvironmentError";
  readonly code = "ENVIRONMENT_MISSING";
  /** The name of the key that was asked for; undefined when it was something else that needs an environment. */
  readonly key: string | undefined;

  /** @param problem - What was done where it cannot be, as a sentence of its own. */
  constructor(problem: string, key?: string) {
    super(
      `${problem} Run the code with app.run() or environment.run(body). A callback that an emitter, a queue or a ` +
        `timer calls later needs bindContext(callback) where it is registered; code at the top of a module runs ` +
        `before any environment.`,
    );
    this.key = key;
  }
}
