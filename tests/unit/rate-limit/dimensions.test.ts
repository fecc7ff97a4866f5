import { runInNewContext } from "node:vm";
import { describe, expect, test } from "@jest/globals";
import { InvalidArgumentError, RateBudget } from "../../../src/rate-limit/index.js";
import { ManualClock } from "../../../src/testing/index.js";

type Dimensions = ConstructorParameters<typeof RateBudget<string>>[0];
type Costs = Parameters<RateBudget<string>["acquire"]>[0];

const rate = { maxRowsPerSecond: 10 };

function make(dimensions: unknown, options?: unknown): RateBudget<string> {
  return new RateBudget(dimensions as Dimensions, options as { name?: string });
}

/** A budget of 10 requests and 100 tokens on a manual clock. */
function budget(): RateBudget<string> {
  const clock = new ManualClock();
  return new RateBudget<string>({ requests: rate, tokens: { maxRowsPerSecond: 100 } }, { clock });
}

function optionOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof InvalidArgumentError) return error.option;
    throw error;
  }
  throw new Error("It has not thrown.");
}

describe("the dimensions of a budget", () => {
  test.each([
    [undefined],
    [null],
    [7],
    ["tokens"],
    [[]],
    [[rate]],
    [() => rate],
    [{}],
    [Object.create({ a: rate })],
  ])("%p is no record of rates", (dimensions) => {
    expect(optionOf(() => make(dimensions))).toBe("dimensions");
  });

  test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("none is named %s", (name) => {
    const given = JSON.parse(
      `{ "a": { "maxRowsPerSecond": 1 }, "${name}": { "maxRowsPerSecond": 1 } }`,
    ) as unknown;
    expect(optionOf(() => make(given))).toBe("dimensions");
    expect(() => make(given)).toThrow(name);
  });

  test("a Map has no properties, so it is a record of none", () => {
    expect(optionOf(() => make(new Map([["a", rate]])))).toBe("dimensions");
  });

  test("symbols and what is inherited are no dimensions", () => {
    const given = Object.assign(Object.create({ inherited: rate }) as object, {
      own: rate,
      [Symbol("key")]: rate,
    });
    expect(Object.keys(make(given).stats().dimensions)).toEqual(["own"]);
  });

  test.each([
    ["tokens", undefined],
    ["tokens", 5],
    ["tokens", null],
    ["tokens.maxRowsPerSecond", {}],
    ["tokens.maxRowsPerSecond", { maxRowsPerSecond: 0 }],
    ["tokens.maxRowsPerSecond", { maxRowsPerSecond: "10" }],
    ["tokens.burstWindowSecs", { ...rate, burstWindowSecs: -1 }],
    ["tokens.burstWindowSecs", { ...rate, burstWindowSecs: Infinity }],
    ["tokens.initialTokens", { ...rate, initialTokens: 11 }],
    ["tokens.initialTokens", { ...rate, initialTokens: NaN }],
  ])("an error names %s for %p", (option, tokens) => {
    expect(optionOf(() => make({ requests: rate, tokens }))).toBe(option);
  });

  test.each([
    ["options", null],
    ["name", { name: 5 }],
    ["maxQueue", { maxQueue: -1 }],
    ["clock", { clock: {} }],
  ])("an error names the option %s of %p", (option, options) => {
    expect(optionOf(() => make({ requests: rate }, options))).toBe(option);
  });
});

describe("costs that cannot be", () => {
  const bad: [option: string, costs: unknown][] = [
    ["costs", undefined],
    ["costs", null],
    ["costs", 3],
    ["costs", [1]],
    ["costs", { request: 1 }],
    ["costs", { requests: 1, constructor: 1 }],
    ["costs", { requests: 1, toString: 1 }],
    ["costs", JSON.parse('{ "requests": 1, "__proto__": 1 }')],
    ["costs", { requests: 1, unknown: undefined }],
    ["costs.requests", { requests: -1 }],
    ["costs.requests", { requests: 0.5 }],
    ["costs.requests", { requests: NaN }],
    ["costs.requests", { requests: null }],
    ["costs.tokens", { requests: 1, tokens: "1" }],
    ["costs.tokens", { requests: 1, tokens: 2 ** 53 }],
  ];

  test.each(bad)("are refused with the name %s, and nothing is spent: %p", async (option, given) => {
    const limiter = budget();
    const before = limiter.stats();
    const costs = given as Costs;
    const error: unknown = await limiter.acquire(costs).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(InvalidArgumentError);
    expect(error).toMatchObject({ option });
    expect(optionOf(() => limiter.tryAcquire(costs))).toBe(option);
    expect(optionOf(() => limiter.estimateWaitMs(costs))).toBe(option);
    expect(limiter.stats()).toEqual(before);
  });

  test("a getter that throws is a rejection, and nothing is spent", async () => {
    const limiter = budget();
    const before = limiter.stats();
    const throws = Object.defineProperty({ tokens: 1 }, "requests", {
      enumerable: true,
      get: () => {
        throw new Error("unreadable");
      },
    });
    await expect(limiter.acquire(throws)).rejects.toThrow("unreadable");
    expect(limiter.stats()).toEqual(before);
  });

  test("an error lists the dimensions that there are", async () => {
    await expect(budget().acquire({ token: 1 })).rejects.toThrow(
      '"costs" must be about "requests", "tokens" only; got "token".',
    );
  });

  test("undefined is as if left out, and symbols say nothing", async () => {
    const costs = { requests: 2, tokens: undefined, [Symbol("key")]: 1 } as Costs;
    expect((await budget().acquire(costs)).costs).toEqual({ requests: 2, tokens: 0 });
  });

  test("an instance whose class has a getter for a dimension is a record of it", async () => {
    class Usage {
      get tokens(): number {
        return 5;
      }
    }
    expect((await budget().acquire(new Usage() as unknown as Costs)).costs).toEqual({
      requests: 0,
      tokens: 5,
    });
  });

  const strangers: readonly (readonly [name: string, given: unknown])[] = [
    ["a promise", Promise.resolve({ tokens: 99 })],
    ["a Map", new Map([["tokens", 99]])],
    ["a Set", new Set(["tokens"])],
    ["a date", new Date(0)],
    ["an error", new Error("tokens")],
    ["an array", [99]],
  ];

  test.each(strangers)("%s is no record, and does not pass as a cost of nothing", async (_, given) => {
    const limiter = budget();
    const before = limiter.stats();
    await expect(limiter.acquire(given as Costs)).rejects.toMatchObject({ option: "costs" });
    const permit = limiter.tryAcquire({});
    expect(optionOf(() => permit?.settle(given as Costs))).toBe("actual");
    expect(limiter.stats()).toEqual(before);
  });

  test("a plain object of another realm, or without a prototype, is a record", async () => {
    const foreign = runInNewContext("({ tokens: 3 })") as Costs;
    expect((await budget().acquire(foreign)).costs).toEqual({ requests: 0, tokens: 3 });
    const bare = Object.assign(Object.create(null) as Costs, { tokens: 3 });
    expect((await budget().acquire(bare)).costs).toEqual({ requests: 0, tokens: 3 });
  });

  test("setRate names what is wrong, and changes no dimension when the second is bad", () => {
    const limiter = budget();
    const before = limiter.stats();
    const set = (rates: unknown) => () => {
      limiter.setRate(rates as Record<string, { maxRowsPerSecond: number }>);
    };
    expect(optionOf(set({ requests: { maxRowsPerSecond: 1 }, tokens: { maxRowsPerSecond: -1 } }))).toBe(
      "tokens.maxRowsPerSecond",
    );
    expect(optionOf(set({ requests: { maxRowsPerSecond: 1 }, tokens: { burstWindowSecs: NaN } }))).toBe(
      "tokens.burstWindowSecs",
    );
    expect(optionOf(set({ requests: { maxRowsPerSecond: 1 }, other: rate }))).toBe("rates");
    expect(optionOf(set({ requests: 5 }))).toBe("requests");
    expect(optionOf(set([rate]))).toBe("rates");
    expect(limiter.stats()).toEqual(before);
  });
});
