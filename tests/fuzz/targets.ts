import fc from "fast-check";
import { BudgetRig } from "../support/rate-limit-budget-rig.js";
import { BadClock, ExactClock, type Misses } from "../support/rate-limit-clocks.js";
import { KeyedRig, keyedPlan } from "../support/rate-limit-keyed-rig.js";
import type { LineRig } from "../support/rate-limit-line-rig.js";
import { Rig } from "../support/rate-limit-rig.js";
import {
  anyMisses,
  budgetSetting,
  MIXED,
  MIXED_FOR_BUDGETS,
  plan,
  setting,
  type Step,
} from "../support/rate-limit-steps.js";

export type Rounds = Pick<fc.Parameters, "seed" | "numRuns">;

/** One kind of limiter, driven against its exact model. */
export interface Target {
  readonly name: string;
  /** @param count - Is told how many operations a run is made of. */
  readonly check: (count: (operations: number) => void, parameters: Rounds) => Promise<Report>;
}

export interface Report {
  readonly failed: boolean;
  readonly numRuns: number;
  /** The counterexample. */
  readonly message: string | undefined;
  /** What was thrown. */
  readonly difference: unknown;
}

const LONGEST = 60;
const timers = fc.option(anyMisses, { nil: undefined });

async function reported<Ts>(property: fc.IAsyncProperty<Ts>, parameters: Rounds): Promise<Report> {
  const details = await fc.check(property, parameters);
  return {
    failed: details.failed,
    numRuns: details.numRuns,
    message: await fc.asyncDefaultReportMessage(details),
    difference: details.errorInstance,
  };
}

async function drive(rig: LineRig, steps: readonly Step[], misses: Misses | undefined): Promise<void> {
  await rig.play(steps);
  await rig.finish();
  rig.checkBound(misses === undefined ? 0 : 5);
}

function clockOf(misses: Misses | undefined): ExactClock | BadClock {
  return misses === undefined ? new ExactClock() : new BadClock(misses);
}

const limiter: Target = {
  name: "RateLimiter",
  check: (count, parameters) =>
    reported(
      fc.asyncProperty(setting, timers, plan(MIXED, LONGEST), async (start, misses, steps) => {
        count(steps.length);
        await drive(new Rig(start, clockOf(misses)), steps, misses);
      }),
      parameters,
    ),
};

const budgets: Target[] = [1, 2, 3].map((dimensions) => ({
  name: `RateBudget of ${String(dimensions)}`,
  check: (count, parameters) =>
    reported(
      fc.asyncProperty(
        budgetSetting(dimensions),
        timers,
        plan(MIXED_FOR_BUDGETS, LONGEST, dimensions),
        async (start, misses, steps) => {
          count(steps.length);
          await drive(new BudgetRig(start, clockOf(misses)), steps, misses);
        },
      ),
      parameters,
    ),
}));

const keyed: Target = {
  name: "KeyedRateLimiter",
  check: (count, parameters) =>
    reported(
      fc.asyncProperty(setting, keyedPlan(MIXED), async (start, steps) => {
        count(steps.length);
        await new KeyedRig(start).play(steps);
      }),
      parameters,
    ),
};

export const targets: readonly Target[] = [limiter, ...budgets, keyed];
