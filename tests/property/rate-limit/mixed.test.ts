import { describe, test } from "@jest/globals";
import fc from "fast-check";
import { BudgetRig } from "../../support/rate-limit-budget-rig.js";
import { BadClock } from "../../support/rate-limit-clocks.js";
import { Rig } from "../../support/rate-limit-rig.js";
import {
  anyMisses,
  budgetSetting,
  MIXED,
  MIXED_FOR_BUDGETS,
  plan,
  setting,
} from "../../support/rate-limit-steps.js";

describe("all operations mixed", () => {
  test("the limiter does what the exact model does, step by step", async () => {
    await fc.assert(
      fc.asyncProperty(setting, plan(MIXED, 60), async (start, steps) => {
        await new Rig(start).playOut(steps);
      }),
      { numRuns: 250 },
    );
  });

  describe.each([1, 2, 3])("a budget of %d dimensions", (dimensions) => {
    const steps = plan(MIXED_FOR_BUDGETS, 60, dimensions);

    test("does what the exact model does, step by step", async () => {
      await fc.assert(
        fc.asyncProperty(budgetSetting(dimensions), steps, async (start, steps) => {
          await new BudgetRig(start).playOut(steps);
        }),
        { numRuns: 25 },
      );
    });

    test("does on bad timers what the exact model does when it looks at the same moments", async () => {
      await fc.assert(
        fc.asyncProperty(budgetSetting(dimensions), anyMisses, steps, async (start, misses, steps) => {
          await new BudgetRig(start, new BadClock(misses)).playOut(steps);
        }),
        { numRuns: 25 },
      );
    });
  });
});
