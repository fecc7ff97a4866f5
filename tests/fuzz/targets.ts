import fc from "fast-check";
import { BudgetRig } from "../support/rate-limit-budget-rig.js";
import { clockOf } from "../support/rate-limit-clocks.js";
import { KeyedRig, keyedPlan } from "../support/rate-limit-keyed-rig.js";
import { Rig } from "../support/rate-limit-rig.js";
import {
  anyOrNoMisses,
  budgetSetting,
  MIXED,
  MIXED_FOR_BUDGETS,
  plan,
  setting,
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

async function reported<Ts>(property: fc.IAsyncProperty<Ts>, parameters: Rounds): Promise<Report> {
  const details = await fc.check(property, parameters);
  return {
    failed: details.failed,
    numRuns: details.numRuns,
    message: await fc.asyncDefaultReportMessage(details),
    difference: details.errorInstance,
  };
}

const limiter: Target = {
  name: "RateLimiter",
  check: (count, parameters) =>
    reported(
      fc.asyncProperty(setting, anyOrNoMisses, plan(MIXED, LONGEST), async (start, misses, steps) => {
        count(steps.length);
        await new Rig(start, clockOf(misses)).playOut(steps);
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
        anyOrNoMisses,
        plan(MIXED_FOR_BUDGETS, LONGEST, dimensions),
        async (start, misses, steps) => {
          count(steps.length);
          await new BudgetRig(start, clockOf(misses)).playOut(steps);
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
