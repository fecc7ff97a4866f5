import { dimensionsOf } from "../../docs/.vitepress/theme/playground/dimensions.js";
import type { Settings } from "../../docs/.vitepress/theme/playground/settings.js";
import { LimiterModel } from "./rate-limit-model.js";
import { Rational } from "./rate-limit-rational.js";
import { bucketsOf } from "./rate-limit-settings.js";

export interface ExactRun {
  /** When each request is granted, in milliseconds. */
  readonly grants: readonly number[];
  readonly mostInLine: number;
}

/** What the exact model makes of a run of the playground. */
export function exactRun(settings: Settings, arrivals: readonly number[]): ExactRun {
  const dimensions = dimensionsOf(settings);
  const model = new LimiterModel({
    buckets: bucketsOf(dimensions.map(({ rate, burst }) => ({ rate, burst, filled: 1 }))),
    isBudget: dimensions.length > 1,
    maxQueue: Infinity,
  });
  const costs = dimensions.map(({ tokens }) => tokens);
  const pauseAt = settings.pauseFor > 0 ? settings.pauseAt * 1000 : Infinity;
  let mostInLine = 0;
  const goTo = (time: number): void => {
    const until = Rational.of(time);
    for (let event = model.nextEvent(); event?.isBelow(until) === true; event = model.nextEvent()) {
      model.now = event;
      model.wake();
    }
    model.now = until;
  };
  const pause = (): void => {
    goTo(pauseAt);
    model.pause(settings.pauseFor * 1000);
  };
  let paused = false;
  for (const [id, at] of arrivals.entries()) {
    if (!paused && pauseAt <= at) {
      pause();
      paused = true;
    }
    goTo(at);
    model.wake();
    model.acquire({ id, costs, maxWaitMs: Infinity, timeLeftMs: Infinity, follows: [], over: [] });
    mostInLine = Math.max(mostInLine, model.queued);
  }
  if (!paused && pauseAt < Infinity) pause();
  goTo(1e12);
  return { grants: arrivals.map((_, id) => model.outcomes.get(id)?.at.toNumber() ?? NaN), mostInLine };
}
