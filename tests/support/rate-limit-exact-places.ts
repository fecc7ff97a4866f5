import { shapeOf } from "./rate-limit-exact-bucket.js";
import { LimiterModel } from "./rate-limit-model.js";
import { Rational } from "./rate-limit-rational.js";
import type { Setting } from "./rate-limit-steps.js";

export interface Arrival {
  /** Milliseconds after the one before. */
  readonly gapMs: number;
  readonly n: number;
}

/** When each of these calls is granted by exact timers, in milliseconds. Nobody leaves. */
export function exactPlaces(setting: Setting, arrivals: readonly Arrival[]): number[] {
  const shape = shapeOf(setting.rate, setting.burst);
  const model = new LimiterModel({
    ...shape,
    initialTokens: shape.capacity * setting.filled,
    maxQueue: Infinity,
  });
  let now = 0;
  for (const [id, { gapMs, n }] of arrivals.entries()) {
    now += gapMs;
    play(model, Rational.of(now));
    model.now = Rational.of(now);
    model.acquire({ id, n, maxWaitMs: Infinity, timeLeftMs: Infinity, follows: [], over: [] });
  }
  play(model, undefined);
  return arrivals.map((_, id) => model.outcomes.get(id)?.at.toNumber() ?? NaN);
}

function play(model: LimiterModel, until: Rational | undefined): void {
  for (let event = model.nextEvent(); event !== undefined; event = model.nextEvent()) {
    if (until?.isBelow(event) === true) return;
    model.now = event;
    model.wake();
  }
}
