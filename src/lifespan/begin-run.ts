import type { Clock } from "../clock.js";
import { currentFrame } from "../context/index.js";
import { requireCore } from "./core.js";
import type { Environment } from "./environment.js";
import type { Run } from "./run.js";

/** The run that the calling code belongs to; undefined outside every run. */
export function currentRun(): Run | undefined {
  return currentFrame()?.run as Run | undefined;
}

/**
 * Begins a run, which the environment waits for until its `end()`.
 *
 * @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when the environment does not run. While it drains, code that is
 *   part of a run of it may still begin runs.
 */
export function beginRun(environment: Environment): Run {
  return requireCore("environment", environment).beginRun();
}

/** What the time limits of an environment, and of all that runs in it, are measured on. */
export function clockOf(environment: Environment): Clock {
  return requireCore("environment", environment).clock;
}

/** Aborts the runs of an environment and of its children, as the end of a drain does; without runs it does nothing. */
export function abortRuns(environment: Environment, reason: unknown): void {
  requireCore("environment", environment).abortRuns(reason);
}

/** Returns `environment` when it is an Environment, of any copy of the package; else throws. */
export function requireEnvironment(environment: Environment): Environment {
  requireCore("environment", environment);
  return environment;
}
