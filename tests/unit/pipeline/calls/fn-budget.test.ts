import { afterEach, beforeEach, describe, expect, test, jest } from "@jest/globals";
import { ContextKey } from "../../../../src/context/index.js";
import { InvalidArgumentError } from "../../../../src/errors.js";
import { Environment } from "../../../../src/lifespan/index.js";
import { fn, withTimeout } from "../../../../src/pipeline/index.js";
import { RateBudget, RateLimiter } from "../../../../src/rate-limit/index.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { errorOf, settle, stateOf } from "../helpers.js";

type Budget = RateBudget<"requests" | "tokens">;

const BUDGET = new ContextKey<Budget>("fn-budget/budget");
const LIMITER = new ContextKey<RateLimiter>("fn-budget/limiter");
const OTHER = new ContextKey<Budget>("fn-budget/other");

let clock: ManualClock;
let budget: Budget;
let limiter: RateLimiter;
let other: { acquire: (costs: unknown) => unknown };
let environment: Environment;
let calls: string[];

beforeEach(async () => {
  clock = new ManualClock();
  calls = [];
  budget = new RateBudget(
    { requests: { maxRowsPerSecond: 10 }, tokens: { maxRowsPerSecond: 100 } },
    { clock },
  );
  limiter = new RateLimiter({ maxRowsPerSecond: 10, clock });
  other = { acquire: () => undefined };
  environment = await new Environment({
    name: "test",
    clock,
    lifespan: function* (builder) {
      builder.provide(BUDGET, budget);
      builder.provide(LIMITER, limiter);
      builder.provide(OTHER, other as unknown as Budget);
      yield;
    },
  }).start();
});
afterEach(() => environment.stop());

const available = (): number[] => Object.values(budget.stats().dimensions).map((bucket) => bucket.available);

/** Takes its estimate from the prompt and settles by the answer. */
function complete(
  answer: (prompt: string) => string,
  needed: (answer: string) => object,
): (prompt: string) => Promise<string> {
  return fn(
    {
      rateLimit: {
        key: BUDGET,
        cost: (prompt: string) => ({ requests: 1, tokens: prompt.length }),
        settle: (result: string) => needed(result),
      },
    },
    async (prompt: string) => {
      calls.push(prompt);
      await Promise.resolve();
      return answer(prompt);
    },
  );
}

describe("fn at a budget", () => {
  test("takes the estimate before the call and settles by the result after it", async () => {
    const seen: number[][] = [];
    const call = complete(
      (prompt) => {
        seen.push(available());
        return prompt.repeat(3);
      },
      (answer) => ({ tokens: answer.length }),
    );
    expect(await environment.run(() => call("0123456789"))).toBe("012345678901234567890123456789");
    expect(seen).toEqual([[9, 90]]);
    expect(available()).toEqual([9, 70]);
  });

  test("without settle the estimate stands", async () => {
    const call = fn(
      { rateLimit: { key: BUDGET, cost: (n: number) => ({ tokens: n }) } },
      async (n: number) => n,
    );
    expect(await environment.run(() => call(40))).toBe(40);
    expect(available()).toEqual([10, 60]);
  });

  test("a failed call keeps its estimate", async () => {
    const call = complete(
      () => {
        throw new Error("no answer");
      },
      () => ({ tokens: 0 }),
    );
    await expect(environment.run(() => call("0123456789"))).rejects.toThrow("no answer");
    expect(available()).toEqual([9, 90]);
  });

  test("what settle says must be about the budget, else the estimate stands", async () => {
    const warned = jest.spyOn(process, "emitWarning").mockReturnValue(undefined);
    const call = complete(
      () => "",
      () => ({ token: 0 }),
    );
    expect(await environment.run(() => call("0123456789"))).toBe("");
    expect(warned.mock.calls[0]?.[0]).toContain('"actual" must be');
    warned.mockRestore();
    expect(calls).toEqual(["0123456789"]);
    expect(available()).toEqual([9, 90]);
  });

  test("an over-estimate lets the next call go at once", async () => {
    const call = complete(
      () => "",
      () => ({ requests: 0, tokens: 0 }),
    );
    const all = environment.run(() =>
      Promise.all(["a".repeat(100), "b".repeat(100)].map((prompt) => call(prompt))),
    );
    expect(await stateOf(all)).toEqual({ value: ["", ""] });
    expect(clock.now()).toBe(0);
  });

  test("nothing is called when there are no tokens to be had", async () => {
    const call = complete(
      () => "",
      () => ({}),
    );
    budget.close("over");
    await expect(environment.run(() => call("a"))).rejects.toMatchObject({
      code: "LIMITER_CLOSED",
      cause: "over",
    });
    expect(calls).toEqual([]);
  });

  test("a time limit takes a waiting call out of the line", async () => {
    const call = complete(
      () => "",
      () => ({}),
    );
    budget.tryAcquire({ tokens: 50 });
    const ended = environment.run(() => withTimeout(1_000, () => call("a".repeat(120))));
    const state = stateOf(ended);
    budget.setRate({ tokens: { maxRowsPerSecond: 1 } });
    await clock.advance(1_000);
    await settle();
    await expect(ended).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect([await state, calls, budget.stats().queued]).toEqual(["pending", [], 0]);
  });
});

describe("a cost that does not go with what the key leads to", () => {
  test("a number at a budget", async () => {
    const wrong = { key: BUDGET, cost: () => 1 as unknown as { tokens: number } };
    const call = fn({ rateLimit: wrong }, async () => calls.push("called"));
    expect(await errorOf(environment.run(() => call()))).toMatchObject({
      code: "ARGUMENT_INVALID",
      option: "costs",
    });
    const settling = fn({ rateLimit: { ...wrong, settle: () => ({}) } }, async () => calls.push("called"));
    expect(await errorOf(environment.run(() => settling()))).toBeInstanceOf(InvalidArgumentError);
    expect([calls, available()]).toEqual([[], [10, 100]]);
  });

  test("a record at a limiter", async () => {
    const wrong = { key: LIMITER, cost: () => ({ tokens: 1 }) as unknown as number };
    const call = fn({ rateLimit: wrong }, async () => calls.push("called"));
    expect(await errorOf(environment.run(() => call()))).toMatchObject({
      code: "ARGUMENT_INVALID",
      option: "n",
    });
    expect([calls, limiter.stats().available]).toEqual([[], 10]);
  });

  test.each([[undefined], [null], [5], [{}], [{ settle: 1 }]])(
    "settle, when acquire gives %p instead of a permit",
    async (permit) => {
      other.acquire = () => permit;
      const call = fn(
        { rateLimit: { key: OTHER, cost: () => ({ tokens: 1 }), settle: () => ({ tokens: 1 }) } },
        async () => calls.push("called"),
      );
      expect(await errorOf(environment.run(() => call()))).toMatchObject({ option: "rateLimit.key" });
      expect(calls).toEqual([]);
    },
  );
});

test("a budget elsewhere is awaited, when it gives the permit and when it settles", async () => {
  const log: unknown[] = [];
  const later = async (entry: unknown): Promise<void> => {
    await Promise.resolve();
    log.push(entry);
  };
  let finish = (): void => undefined;
  const settling = new Promise<void>((resolve) => (finish = resolve));
  other.acquire = async (costs) => {
    await later(["acquired", costs]);
    return {
      settle: async (actual: unknown) => {
        await later(["settles", actual]);
        await settling;
      },
    };
  };
  const call = fn(
    {
      rateLimit: {
        key: OTHER,
        cost: (n: number) => ({ tokens: n }),
        settle: (result: number, n: number) => ({ tokens: result + n }),
      },
    },
    async (n: number) => {
      log.push("called");
      return n * 2;
    },
  );
  const result = environment.run(() => call(4));
  expect(await stateOf(result)).toBe("pending");
  expect(log).toEqual([["acquired", { tokens: 4 }], "called", ["settles", { tokens: 12 }]]);
  finish();
  expect(await result).toBe(8);
});
