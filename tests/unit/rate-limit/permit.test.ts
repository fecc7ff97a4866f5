import { describe, expect, test } from "@jest/globals";
import { InvalidArgumentError, PermitUsedError, RateBudget } from "../../../src/rate-limit/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { Trace } from "./support/trace.js";

type Name = "requests" | "tokens";

/** 10 requests and 100 tokens a second, both full, on a manual clock. */
function setUp(): { clock: ManualClock; budget: RateBudget<Name>; trace: Trace; available: () => number[] } {
  const clock = new ManualClock();
  const budget = new RateBudget<Name>(
    { requests: { maxRowsPerSecond: 10 }, tokens: { maxRowsPerSecond: 100 } },
    { clock, name: "model" },
  );
  const available = (): number[] =>
    Object.values(budget.stats().dimensions).map((bucket) => bucket.available);
  return { clock, budget, trace: new Trace(clock), available };
}

describe("a permit", () => {
  test("says what was taken: complete and frozen", async () => {
    const { budget } = setUp();
    const given = { tokens: 30 };
    const permit = await budget.acquire(given);
    given.tokens = 5;
    expect(permit.costs).toEqual({ requests: 0, tokens: 30 });
    expect(Object.isFrozen(permit.costs)).toBe(true);
    expect(budget.tryAcquire({ requests: 1 })?.costs).toEqual({ requests: 1, tokens: 0 });
  });

  test("left alone, the estimate stands", async () => {
    const { budget, available } = setUp();
    await budget.acquire({ requests: 1, tokens: 30 });
    expect(available()).toEqual([9, 70]);
  });

  test("settled, an over-estimate comes back and an under-estimate is charged", async () => {
    const { budget, available } = setUp();
    const permit = await budget.acquire({ requests: 3, tokens: 30 });
    permit.settle({ requests: 1, tokens: 50 });
    expect(available()).toEqual([9, 50]);
  });

  test("settled in part, the other dimensions keep their estimate", async () => {
    const { budget, available } = setUp();
    (await budget.acquire({ requests: 1, tokens: 30 })).settle({ tokens: 10 });
    expect(available()).toEqual([9, 90]);
    (await budget.acquire({ requests: 1, tokens: 30 })).settle({ requests: undefined });
    expect(available()).toEqual([8, 60]);
  });

  test("a dimension that cost nothing can be charged later", async () => {
    const { budget, available } = setUp();
    (await budget.acquire({ requests: 1 })).settle({ tokens: 250 });
    expect(available()).toEqual([9, -150]);
    expect(budget.estimateWaitMs({ tokens: 1 })).toBe(1510);
    expect(budget.tryAcquire({ requests: 1 })?.costs).toEqual({ requests: 1, tokens: 0 });
  });

  test("refunded, all of it comes back, never above the capacity", async () => {
    const { clock, budget, available } = setUp();
    const first = await budget.acquire({ requests: 2, tokens: 30 });
    const second = await budget.acquire({ requests: 2, tokens: 30 });
    first.refund();
    expect(available()).toEqual([8, 70]);
    await clock.advance(10_000);
    second.refund();
    expect(available()).toEqual([10, 100]);
  });

  test.each([
    ["settle", "settle"],
    ["settle", "refund"],
    ["refund", "settle"],
    ["refund", "refund"],
  ] as const)("is used up once: %s, then %s", async (first, second) => {
    const { budget, available } = setUp();
    const permit = await budget.acquire({ requests: 2, tokens: 30 });
    const use = (how: "settle" | "refund"): void => {
      if (how === "settle") permit.settle({ tokens: 40 });
      else permit.refund();
    };
    use(first);
    const before = available();
    expect(() => {
      use(second);
    }).toThrow(PermitUsedError);
    expect(() => {
      use(second);
    }).toThrow('"model"');
    expect(available()).toEqual(before);
  });

  test.each([[{ token: 1 }], [{ requests: 1, tokens: -1 }], [{ tokens: 0.5 }], [null], [[1]], [5]])(
    "a bad settle does not use it up: %p",
    async (actual) => {
      const { budget, available } = setUp();
      const permit = await budget.acquire({ requests: 1, tokens: 30 });
      expect(() => {
        permit.settle(actual as { tokens: number });
      }).toThrow(InvalidArgumentError);
      expect(available()).toEqual([9, 70]);
      permit.settle({ tokens: 0 });
      expect(available()).toEqual([9, 100]);
    },
  );

  test("an over-estimate lets those who wait go at once, an under-estimate makes them wait", async () => {
    const { clock, budget, trace } = setUp();
    const over = await budget.acquire({ tokens: 60 });
    const under = await budget.acquire({ tokens: 40 });
    trace.follow("a", budget.acquire({ tokens: 20 }));
    trace.follow("b", budget.acquire({ tokens: 10 }));
    over.settle({ tokens: 30 });
    await clock.advance(0);
    expect(trace.events).toEqual(["a t0", "b t0"]);
    under.settle({ tokens: 90 });
    trace.follow("c", budget.acquire({ tokens: 10 }));
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a t0", "b t0", "c t600"]);
  });

  test("can be settled while the budget is paused and after it was closed", async () => {
    const { clock, budget, trace, available } = setUp();
    const [first, second, third] = await Promise.all([
      budget.acquire({ tokens: 50 }),
      budget.acquire({ tokens: 30 }),
      budget.acquire({ tokens: 20 }),
    ]);
    budget.pause(1_000);
    trace.follow("waits", budget.acquire({ tokens: 10 }));
    first.settle({ tokens: 0 });
    await clock.advance(900);
    expect(trace.events).toEqual([]);
    budget.close();
    second.settle({ tokens: 1_000 });
    third.refund();
    expect(() => {
      third.refund();
    }).toThrow(PermitUsedError);
    await clock.advance(0);
    expect(trace.events).toEqual(["waits failed t900"]);
    // 100 is the most that it could hold when 970 were charged.
    expect(available()[1]).toBe(100 - 970 + 20);
  });
});
