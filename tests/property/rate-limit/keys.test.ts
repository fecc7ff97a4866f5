import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { KeyedRig, keyedPlan } from "../../support/rate-limit-keyed-rig.js";
import { MIXED, setting } from "../../support/rate-limit-steps.js";

// Dropping a key changes nothing: a keyed limiter gives the same answers at the same times as models that live for ever.

test("a keyed limiter does what limiters that live for ever do", async () => {
  let dropped = 0;
  await fc.assert(
    fc.asyncProperty(setting, keyedPlan(MIXED), async (start, steps) => {
      const rig = new KeyedRig(start);
      await rig.play(steps);
      dropped += rig.dropped;
    }),
    { numRuns: 200 },
  );
  expect(dropped).toBeGreaterThan(500);
}, 60_000);
