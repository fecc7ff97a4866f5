import { VERSION } from "./version.js";
import { warn } from "./warn.js";

/**
 * What all copies of the package in one process share: an ESM and a CommonJS copy, or two installed versions. `v1` in
 * the key is the version of this shape, not of the package. It holds plain data and functions: a class of one copy
 * is unknown to the others.
 */
export interface Registry {
  /** What each version keeps for itself, by version. */
  readonly versions: Map<string, VersionState>;
  /** The one AsyncLocalStorage of the process, made by the first frame that is entered. */
  storage: unknown;
  /** Reads the scope that the calling code runs in. Filled together with `storage`; empty where only limiters are used. */
  ambientScope: (() => unknown) | undefined;
  /** Who watches the limiters; see `observeLimiters`. */
  limiterObserver: unknown;
  /** Who stands around runs and calls; see `traceCalls`. */
  callTracer: unknown;
}

export interface VersionState {
  defaultEnvironment: unknown;
}

const KEY = Symbol.for("tidegate/registry/v1");

let known: Registry | undefined;

/** The registry of this process, made at the first call. */
export function registry(): Registry {
  return (known ??= join());
}

/** What the copies of this version share among themselves. */
export function versionState(): VersionState {
  return registry().versions.get(VERSION) as VersionState;
}

function join(): Registry {
  const holder = globalThis as unknown as Record<symbol, Registry | undefined>;
  let shared = holder[KEY];
  if (shared === undefined) {
    shared = {
      versions: new Map(),
      storage: undefined,
      ambientScope: undefined,
      limiterObserver: undefined,
      callTracer: undefined,
    };
    Object.defineProperty(holder, KEY, { value: shared });
  }
  if (!shared.versions.has(VERSION)) {
    const others = [...shared.versions.keys()];
    shared.versions.set(VERSION, { defaultEnvironment: undefined });
    if (others.length > 0) {
      warn(
        `Two versions of tidegate run in this process: ${others.join(", ")} and ${VERSION}. They see one another's ` +
          `contexts, but each has its own default environment. Deduplicate the dependency (npm ls tidegate).`,
        "TIDEGATE_TWO_VERSIONS",
      );
    }
  }
  return shared;
}
