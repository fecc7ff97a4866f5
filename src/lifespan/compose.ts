import { currentFrame } from "../context/index.js";
import type { EnvironmentBuilder, Lifespan } from "./builder.js";
import { gather, gatherFailedStart } from "./cleanup-errors.js";
import { requireLifespan } from "./lifespan-check.js";
import { LifespanParts, markComposed } from "./lifespan-parts.js";

/**
 * Makes one lifespan of several. They start in the order given, each after the one before has come to its yield, and
 * share one builder. The stop unwinds as for one lifespan: first the code after the yields, reversed, with everything
 * still open; then what the builder owns, last first. When one fails to start, the code after the yields of those
 * before it runs, reversed, and later ones do not start.
 *
 * @throws LifespanError (`LIFESPAN_INVALID`) when one is not a function.
 * @example
 * const environment = new Environment({ lifespan: composeLifespans(database, cache, metrics) });
 */
export function composeLifespans(...lifespans: Lifespan[]): Lifespan {
  for (const part of lifespans) requireLifespan(part, "composed");
  // An environment drives the parts itself; this body is for code that delegates to it with yield*.
  const composed = async function* (builder: EnvironmentBuilder): AsyncGenerator<void, void, void> {
    const frame = currentFrame();
    const parts = new LifespanParts(lifespans, frame?.source?.name ?? "(unknown)", frame);
    const finish = (): Promise<unknown[]> =>
      parts.finish(async (tail) => {
        await tail.close();
      });
    try {
      await parts.begin(builder, () => undefined);
    } catch (error) {
      throw gatherFailedStart(error, await finish());
    }
    yield;
    const errors = await finish();
    if (errors.length > 0) throw gather(errors, "Several lifespans failed to close.");
  };
  Object.defineProperty(composed, "name", {
    value: `composeLifespans(${lifespans.map((part) => part.name || "(anonymous)").join(", ")})`,
  });
  markComposed(composed, lifespans);
  return composed;
}
