/// <reference lib="esnext.disposable" preserve="true" />
import { InvalidArgumentError } from "../../errors.js";
import { requireFunction, requireLimit, requireName } from "../../internal/checks.js";
import { defaultEnvironment, type Environment, requireEnvironment } from "../../lifespan/index.js";
import type { RunHandle, RunOptions } from "./run-handle.js";
import { StartedRun } from "./started-run.js";

/** Where an app keeps its environment, for `runMain`. Shared by all copies of the package: an app may be another copy's. */
const ENVIRONMENT = Symbol.for("tidegate/app-environment/v1");

/** Options of an {@link App}. */
export interface AppOptions {
  /** For messages and reports; not empty. */
  readonly name: string;
  /** Where it runs. Default: the default environment. */
  readonly environment?: Environment | undefined;
  /**
   * Most items in flight at once, over all fan-outs of one run together: an integer from 1 up, or Infinity. An item
   * that waits for a fan-out of its own does not count, nor does main. Default 1024.
   */
  readonly concurrency?: number | undefined;
}

/**
 * A pipeline: a main function, its arguments, and the environment it runs in.
 *
 * @example
 * const app = new App("crawl", (urls: string[]) => map(fetchPage, urls), urls);
 * const pages = await app.run();
 */
export class App<A extends unknown[], R> {
  /** For messages and reports. */
  readonly name: string;
  /** @internal */
  declare readonly [ENVIRONMENT]: Environment;
  readonly #concurrency: number | undefined;
  readonly #main: () => R;

  /**
   * @param config - The name, or options with the name.
   * @param main - Called once a run. It may be sync.
   * @param args - What each run calls `main` with.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) for an argument or option that cannot be; it names which.
   */
  constructor(config: string | AppOptions, main: (...args: A) => R, ...args: A) {
    const { name, environment, concurrency } = resolveConfig(config);
    requireFunction("main", main);
    this.name = name;
    Object.defineProperty(this, ENVIRONMENT, {
      value: environment === undefined ? defaultEnvironment : requireEnvironment(environment),
    });
    this.#concurrency = concurrency === undefined ? undefined : requireLimit("concurrency", concurrency);
    this.#main = () => main(...args);
  }

  /**
   * Calls main in the environment, at once when that is running; else the environment is started first. The overrides
   * that hold where `run` is called hold inside. Runs may overlap: each has its own slots, and its own end.
   *
   * A run that is aborted rejects with the reason once main has ended, also when main ignored the abort. A failed run
   * that nobody looks at is an unhandled rejection.
   *
   * @returns Never throws: all of the following are rejections of the handle.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) for an option that cannot be.
   * @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when the environment is stopping, and inside its own lifespan.
   * @throws RunAbortedError (`RUN_ABORTED`) when the handle was told to abort without a reason; else the reason.
   * @throws The signal's `reason`, unchanged, when it aborts; aborted before, main is not called.
   * @throws What the start of the environment, or main, has thrown.
   */
  run(options?: RunOptions): RunHandle<Awaited<R>> {
    const plan = {
      name: this.name,
      environment: this[ENVIRONMENT],
      concurrency: this.#concurrency,
      main: this.#main,
    };
    return new StartedRun(plan, options);
  }
}

/** The environment of an app, of any copy of the package; throws for anything else. */
export function environmentOf(app: App<unknown[], unknown>): Environment {
  const environment = (app as Partial<App<unknown[], unknown>> | null | undefined)?.[ENVIRONMENT];
  if (environment !== undefined) return environment;
  throw new InvalidArgumentError("app", "an App", app);
}

function resolveConfig(config: string | AppOptions): AppOptions {
  const options = typeof config === "string" ? { name: config } : config;
  if (typeof options !== "object" || (options as unknown) === null) {
    throw new InvalidArgumentError("config", "a name, or an object of options", config);
  }
  requireName("name", options.name);
  return options;
}
