import { Deferred } from "../internal/deferred.js";
import type { Generation } from "./generation.js";

/** Where an environment is between its start and its end. One that has stopped, or failed to start, can start again. */
export type EnvironmentState = "idle" | "starting" | "running" | "stopping" | "stopped";

export interface Starting {
  readonly name: "starting";
  /** What `start()` returns. */
  readonly started: Deferred<void>;
  /** Aborted when the start shall not go on. */
  readonly abort: AbortController;
  /** Undefined while the parent starts. */
  generation: Generation | undefined;
  /** The lifespan has thrown, and what it had opened is being closed. */
  hasFailed: boolean;
}

export interface Running {
  readonly name: "running";
  readonly generation: Generation;
}

export interface Stopping {
  readonly name: "stopping";
  /** Undefined when the start was given up before the lifespan began. */
  readonly generation: Generation | undefined;
  /** Settles when everything is closed; rejects with the errors of closing. */
  readonly closed: Deferred<void>;
  /** While draining, runs still end, and their code may wait for anything but the stop. */
  step: "draining" | "closing";
  /** What the environment is once it has closed: a start that failed leaves it as if it had never begun. */
  readonly next: "idle" | "stopped";
  /** How often `stop()` was called meanwhile. */
  stops: number;
}

/** What an environment is doing. Each phase holds what belongs to it alone. */
export type Phase = { readonly name: "idle" } | Starting | Running | Stopping | { readonly name: "stopped" };

export function stoppingOf(
  generation: Generation | undefined,
  step: Stopping["step"],
  next: Stopping["next"],
): Stopping {
  return { name: "stopping", generation, closed: new Deferred<void>(), step, next, stops: 0 };
}
