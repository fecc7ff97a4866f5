import { describe, test } from "@jest/globals";
import fc from "fast-check";
import { Rig } from "../../support/rate-limit-rig.js";
import { plan, setting } from "../../support/rate-limit-steps.js";

describe("all operations mixed", () => {
  const steps = plan(
    {
      acquire: 24,
      advance: 20,
      tryAcquire: 6,
      abort: 4,
      endScope: 2,
      pause: 2,
      resume: 2,
      setRate: 4,
      refund: 4,
      charge: 3,
      close: 1,
    },
    60,
  );

  test("the limiter does what the exact model does, step by step", async () => {
    await fc.assert(
      fc.asyncProperty(setting, steps, async (start, plan) => {
        const rig = new Rig(start);
        await rig.play(plan);
        await rig.finish();
        rig.trace.checkBound(0);
      }),
      { numRuns: 700 },
    );
  });
});
