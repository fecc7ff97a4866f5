import { type BadClock, ExactClock } from "./rate-limit-clocks.js";
import type { LimiterModel } from "./rate-limit-model.js";
import { AT } from "./rate-limit-steps.js";

/** No step goes further than this at once: the doubles of later times would be too coarse for a nanosecond. */
export const FARTHEST_MS = 1e6;

/** How near a step may come to the next event by accident, in milliseconds. */
const TOO_NEAR_MS = 3e-7;

interface OnClock {
  readonly model: LimiterModel;
  /** Tells the model what time it is. */
  syncNow(): void;
}

/** Moves the time on by `ms` or a little more, for all who share the clock. */
export async function goTo(
  rigs: readonly OnClock[],
  clock: ExactClock | BadClock,
  ms: number,
): Promise<void> {
  let end = clock.now() + ms;
  if (clock instanceof ExactClock) {
    // What moves the target for one may bring it to an event of another.
    for (let before = NaN; end !== before;) {
      before = end;
      end = rigs.reduce((target, { model }) => foresee(model, target), end);
    }
  }
  await clock.advance(Math.max(0, end - clock.now()));
  for (const rig of rigs) rig.syncNow();
}

/**
 * Takes the model to `target`, event by event. A target that is an event by accident is moved behind it: which side
 * of it a double falls on is nobody's business.
 *
 * @returns The target.
 */
function foresee(model: LimiterModel, target: number): number {
  let end = target;
  for (let event = model.nextEvent(); event !== undefined; event = model.nextEvent()) {
    const at = event.toNumber();
    if (at > end + TOO_NEAR_MS) break;
    if (at > end - TOO_NEAR_MS) end = at + AT;
    model.now = event;
    model.wake();
    model.meter.levelsAt(event);
  }
  return end;
}
