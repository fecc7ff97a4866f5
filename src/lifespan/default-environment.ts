import { versionState } from "../internal/registry.js";
import { warn } from "../internal/warn.js";
import type { Lifespan } from "./builder.js";
import { requireCore } from "./core.js";
import { Environment } from "./environment.js";
import { nameOf } from "./errors.js";
import { requireLifespan } from "./lifespan-check.js";

/**
 * The environment of apps that name no other. All copies of this version of the package in one process share it, with
 * its lifespan.
 */
export const defaultEnvironment: Environment = /* @__PURE__ */ shared();

function shared(): Environment {
  const state = versionState();
  state.defaultEnvironment ??= new Environment({ name: "default" });
  return state.defaultEnvironment as Environment;
}

/**
 * Registers the lifespan of the default environment. Registering another one replaces it and warns; while the
 * environment runs, it takes effect at the next start.
 *
 * @returns `f`.
 * @throws LifespanError (`LIFESPAN_INVALID`) when `f` is not a function. Whether it is a generator function shows at
 *   the start.
 * @example
 * lifespan(async function* services(builder) {
 *   builder.provide(RATE_LIMIT, new RateLimiter({ maxRowsPerSecond: 50 }));
 *   yield; // the apps run here; what follows is cleanup
 * });
 */
export function lifespan<L extends Lifespan>(f: L): L {
  requireLifespan(f, defaultEnvironment.name);
  const before = requireCore("defaultEnvironment", defaultEnvironment).replaceLifespan(f);
  if (before !== undefined && before !== f) {
    warn(
      `Lifespan ${nameOf(f)} replaces lifespan ${nameOf(before)} of the default environment, at its next start. To ` +
        `have both, register composeLifespans(a, b).`,
      "TIDEGATE_LIFESPAN_REPLACED",
    );
  }
  return f;
}

/** Starts the default environment; see {@link Environment.start}. */
export function start(): Promise<Environment> {
  return defaultEnvironment.start();
}

/** Stops the default environment; see {@link Environment.stop}. */
export function stop(reason?: unknown): Promise<void> {
  return defaultEnvironment.stop(reason);
}
