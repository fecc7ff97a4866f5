import { type Clock, isSameClock } from "../clock.js";
import { registry } from "../internal/registry.js";

/** A moment on a clock. */
export interface Deadline {
  readonly clock: Clock;
  /** In milliseconds of that clock. */
  readonly at: number;
}

/** Is told once, synchronously, when the scope it was added to ends. */
export interface ScopeListener {
  scopeEnded(reason: unknown, scope: AmbientScope): void;
}

/**
 * What waiting code may know of the scope it was called in: that it ends, why, and by when. Other copies of the
 * package read it too, so it holds plain data and methods.
 */
export interface AmbientScope {
  /** Nothing called in this scope shall wait any more. */
  readonly ended: boolean;
  /** Why it ended; undefined before. */
  readonly reason: unknown;
  /** The nearest deadline, its own or that of a scope around it. */
  readonly deadline: Deadline | undefined;
  add(listener: ScopeListener): void;
  remove(listener: ScopeListener): void;
}

/** The scope that the calling code runs in; undefined outside every run, time limit and fan-out. */
export function ambientScope(): AmbientScope | undefined {
  return registry().ambientScope?.() as AmbientScope | undefined;
}

/** Milliseconds until the deadline of `scope`; Infinity without one, or when it stands on another clock. */
export function timeLeftMs(scope: AmbientScope | undefined, clock: Clock, now: number): number {
  const deadline = scope?.deadline;
  return deadline === undefined || !isSameClock(deadline.clock, clock) ? Infinity : deadline.at - now;
}
