import type { Clock } from "../clock.js";
import type { ExceptionHandlers, ValueSource } from "../context/index.js";
import { InvalidArgumentError } from "../errors.js";
import type { Lifespan } from "./builder.js";
import type { CountedRun } from "./environment-run.js";
import type { Run } from "./run.js";

/** Where an environment keeps its core. Shared by all copies of the package: an environment may be another copy's. */
export const CORE = Symbol.for("tidegate/environment-core/v1");

/** What the library needs of an environment and users do not: no private fields, for the class may be another copy's. */
export interface Core {
  readonly clock: Clock;
  /** Its own exception handler, then those of its parents. */
  readonly exceptionHandlers: ExceptionHandlers;
  /** Counts a new run. Throws EnvironmentStateError when none may begin. */
  beginRun(): Run;
  /** Aborts the runs of this environment and of its children, as the end of a drain does. */
  abortRuns(reason: unknown): void;
  /** Sets what the next start runs. Returns what it ran before. */
  replaceLifespan(lifespan: Lifespan): Lifespan | undefined;
  /** For a child: starts the environment, or lets the child in while runs drain that the calling code is part of. */
  ready(): Promise<void>;
  /** For a child: takes it in; it is stopped before this environment closes. Returns what it inherits. */
  adopt(child: Core): ValueSource;
  /** For a child: it has closed. */
  release(child: Core): void;
  /** Throws EnvironmentStateError when the calling code may not begin a run here, or in a child of it. */
  requireAdmission(): void;
  /** Counts a run of this environment or of a child. Returns what takes it out again. */
  count(run: CountedRun): () => void;
  /** Whether a start or stop under way, here or in a child, waits for the calling code. */
  waitsForCaller(): boolean;
  /** Whether a stop under way, here or in a parent, lets a run come to its end that the calling code is part of. */
  drainWaitsForCaller(): boolean;
  /** `stop()`, whoever calls it. */
  shutDown(reason: unknown): Promise<void>;
}

/** The core of an environment, of any copy of the package; throws for anything else. */
export function requireCore(option: string, environment: unknown): Core {
  const core = (environment as { [CORE]?: Core } | null | undefined)?.[CORE];
  if (core !== undefined) return core;
  throw new InvalidArgumentError(option, "an Environment", environment);
}
