import type { Lifespan } from "./builder.js";
import { LifespanError } from "./errors.js";

/** Returns `lifespan` when it is a function; whether it makes a generator shows at the start only. */
export function requireLifespan<L extends Lifespan>(lifespan: L, environment: string): L {
  if (typeof lifespan === "function") return lifespan;
  throw new LifespanError(
    lifespan,
    environment,
    "is not a function. Pass a generator function: async function* (builder) { …; yield; … }.",
  );
}
