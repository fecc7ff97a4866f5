import type { Clock } from "../clock.js";
import { MAX_DELAY_MS, systemClock } from "../clock.js";
import { requireKey } from "../context/index.js";
import type { AnyContextKey } from "../context/index.js";
import { InvalidArgumentError } from "../errors.js";
import { requireClock, requireName, requireOptions } from "../internal/checks.js";
import type { Lifespan } from "./builder.js";
import type { Core } from "./core.js";
import { requireCore } from "./core.js";
import type { Environment } from "./environment.js";
import { requireLifespan } from "./lifespan-check.js";

/** Options of an {@link Environment}. */
export interface EnvironmentOptions {
  /** For messages and reports. Default: "environment". */
  readonly name?: string | undefined;
  /** Opens what the environment shares. Default: none, so that only the parent's values and defaults are found. */
  readonly lifespan?: Lifespan | undefined;
  /** Whose values are found where this environment provides none. It is started first and stopped last. */
  readonly parent?: Environment | undefined;
  /** What all time limits of the environment and of its runs are measured on. Default: the parent's, else the system's. */
  readonly clock?: Clock | undefined;
  /** Longest time for a start, the parent's included, in milliseconds from 0 up. Default: none. */
  readonly startTimeoutMs?: number | undefined;
  /** How long `stop()` lets runs come to an end before it aborts them, in milliseconds from 0 up. Default: 10,000. */
  readonly drainTimeoutMs?: number | undefined;
  /**
   * Longest time for each closer, and for the code after the yield, in milliseconds from 0 up. What takes longer is
   * named in the error of `stop()` and left behind. Default: none.
   */
  readonly closeTimeoutMs?: number | undefined;
  /** Keys without which the environment does not start; see `MissingContextError`. Default: none. */
  readonly requires?: readonly AnyContextKey[] | undefined;
}

/** The options, checked and complete. */
export interface Settings {
  readonly name: string;
  readonly lifespan: Lifespan | undefined;
  readonly parent: Core | undefined;
  readonly clock: Clock;
  readonly startTimeoutMs: number | undefined;
  readonly drainTimeoutMs: number;
  readonly closeTimeoutMs: number | undefined;
  readonly requires: readonly AnyContextKey[];
}

const DRAIN_TIMEOUT_MS = 10_000;

export function resolveOptions(options: EnvironmentOptions | undefined): Settings {
  const { name, lifespan, parent, clock, startTimeoutMs, drainTimeoutMs, closeTimeoutMs, requires } =
    requireOptions("options", options) ?? {};
  const checkedName = name === undefined ? "environment" : requireName("name", name);
  const core = parent === undefined ? undefined : requireCore("parent", parent);
  return {
    name: checkedName,
    lifespan: lifespan === undefined ? undefined : requireLifespan(lifespan, checkedName),
    parent: core,
    clock: clock === undefined ? (core?.clock ?? systemClock) : requireClock(clock),
    startTimeoutMs: requireLimitMs("startTimeoutMs", startTimeoutMs),
    drainTimeoutMs: requireLimitMs("drainTimeoutMs", drainTimeoutMs) ?? DRAIN_TIMEOUT_MS,
    closeTimeoutMs: requireLimitMs("closeTimeoutMs", closeTimeoutMs),
    requires: requires === undefined ? [] : requireKeys(requires),
  };
}

function requireLimitMs(name: string, value: unknown): number | undefined {
  if (value === undefined || value === Infinity) return value;
  // Above the longest delay of a timer it would fire at once.
  if (typeof value === "number" && value >= 0 && value <= MAX_DELAY_MS) return value;
  throw new InvalidArgumentError(name, `milliseconds from 0 to ${String(MAX_DELAY_MS)}, or Infinity`, value);
}

function requireKeys(requires: unknown): readonly AnyContextKey[] {
  if (!Array.isArray(requires))
    throw new InvalidArgumentError("requires", "an array of ContextKeys", requires);
  return requires.map((key, place) => requireKey(key as AnyContextKey, `requires[${String(place)}]`));
}
