import type { Costs } from "./rate-limit-exact-meter.js";
import { LimiterModel } from "./rate-limit-model.js";
import { Rational } from "./rate-limit-rational.js";
import { bucketsOf, type LineSetting, type Setting } from "./rate-limit-settings.js";

export interface Arrival {
  /** Milliseconds after the one before. */
  readonly gapMs: number;
  readonly n: number;
}

export interface BudgetArrival {
  /** Milliseconds after the one before. */
  readonly gapMs: number;
  readonly costs: Costs;
}

/** When each of these calls is granted by exact timers, in milliseconds. Nobody leaves. */
export function exactPlaces(setting: Setting, arrivals: readonly Arrival[]): number[] {
  return placesOf(
    { dimensions: [setting], maxQueue: Infinity },
    false,
    arrivals.map(({ gapMs, n }) => ({ gapMs, costs: [n] })),
  );
}

/** The same of calls to a budget. */
export function exactBudgetPlaces(setting: LineSetting, arrivals: readonly BudgetArrival[]): number[] {
  return placesOf(setting, true, arrivals);
}

function placesOf(
  { dimensions }: LineSetting,
  isBudget: boolean,
  arrivals: readonly BudgetArrival[],
): number[] {
  const model = new LimiterModel({ buckets: bucketsOf(dimensions), isBudget, maxQueue: Infinity });
  let now = 0;
  for (const [id, { gapMs, costs }] of arrivals.entries()) {
    now += gapMs;
    play(model, Rational.of(now));
    model.now = Rational.of(now);
    model.acquire({ id, costs, maxWaitMs: Infinity, timeLeftMs: Infinity, follows: [], over: [] });
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
