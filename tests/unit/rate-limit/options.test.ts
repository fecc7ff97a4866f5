import { describe, expect, test } from "@jest/globals";
import { InvalidArgumentError } from "../../../src/errors.js";
import {
  type AcquireOptions,
  perHour,
  perMinute,
  RateLimiter,
  type RateLimiterOptions,
} from "../../../src/rate-limit/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { setUp } from "./support/set-up.js";

/** Calls `body` and returns the InvalidArgumentError that it throws. */
function refusalOf(body: () => unknown): InvalidArgumentError {
  try {
    body();
  } catch (error) {
    if (error instanceof InvalidArgumentError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("the constructor", () => {
  test("takes a rate alone: one second of burst, full, no end to the line", async () => {
    const limiter = new RateLimiter({ maxRowsPerSecond: 3 });
    expect(limiter.name).toBe("limiter");
    expect(limiter.stats()).toEqual({
      available: 3,
      capacity: 3,
      queued: 0,
      queuedTokens: 0,
      granted: 0,
      grantedTokens: 0,
      aborted: 0,
      waitedMs: 0,
      pausedForMs: 0,
    });
    await limiter.acquire(3);
  });

  test("takes undefined for what is left out", () => {
    const options = {
      burstWindowSecs: undefined,
      maxQueue: undefined,
      initialTokens: undefined,
      name: undefined,
      clock: undefined,
    };
    const limiter = new RateLimiter({ maxRowsPerSecond: 3, ...options });
    expect(limiter.name).toBe("limiter");
    expect(limiter.stats()).toMatchObject({ available: 3, capacity: 3 });
  });

  test.each([
    [50, 1, 50],
    [50, 0, 1],
    [0.25, 1, 1],
    [2.5, 3, 7.5],
    [10, 0.05, 1],
    [Infinity, 0, Infinity],
  ])("%d/s with a window of %d s holds %d", (maxRowsPerSecond, burstWindowSecs, capacity) => {
    const limiter = new RateLimiter({ maxRowsPerSecond, burstWindowSecs, clock: new ManualClock() });
    expect(limiter.stats().capacity).toBe(capacity);
  });

  test("takes a start content that is a fraction", () => {
    expect(setUp(5, 5, { initialTokens: 0.5 }).limiter.stats().available).toBe(0.5);
  });

  test.each<[keyof RateLimiterOptions, unknown, string]>([
    ["maxRowsPerSecond", undefined, "a number above 0 (tokens a second), or Infinity"],
    ["maxRowsPerSecond", null, "a number above 0 (tokens a second), or Infinity"],
    ["maxRowsPerSecond", -Infinity, "a number above 0 (tokens a second), or Infinity"],
    ["maxRowsPerSecond", 5n, "a number above 0 (tokens a second), or Infinity"],
    ["burstWindowSecs", null, "a finite number of seconds from 0 up"],
    ["burstWindowSecs", -0.001, "a finite number of seconds from 0 up"],
    ["maxQueue", -1, "an integer from 0 up, or Infinity"],
    ["maxQueue", 1.5, "an integer from 0 up, or Infinity"],
    ["maxQueue", NaN, "an integer from 0 up, or Infinity"],
    ["maxQueue", "3", "an integer from 0 up, or Infinity"],
    ["initialTokens", -1, "a number from 0 to the capacity, 5"],
    ["initialTokens", 5.001, "a number from 0 to the capacity, 5"],
    ["initialTokens", NaN, "a number from 0 to the capacity, 5"],
    ["name", 7, "a string"],
    ["clock", {}, "a Clock, with now() and schedule()"],
    ["clock", null, "a Clock, with now() and schedule()"],
    ["clock", { now: () => 0 }, "a Clock, with now() and schedule()"],
  ])("refuses %s: %p", (option, value, requirement) => {
    const options = { maxRowsPerSecond: 5, [option]: value } as RateLimiterOptions;
    const error = refusalOf(() => new RateLimiter(options));
    expect(error).toMatchObject({ code: "ARGUMENT_INVALID", option, requirement, received: value });
    expect(error.message).toMatch(`"${option}" must be ${requirement}; got `);
  });

  test.each([undefined, null, 5, "5/s"])("refuses %p in place of options", (options) => {
    expect(refusalOf(() => new RateLimiter(options as unknown as RateLimiterOptions))).toMatchObject({
      option: "options",
      received: options,
    });
  });

  test("reads the clock once, and asks for no timer", () => {
    let reads = 0;
    const clock = {
      now: () => {
        reads += 1;
        return 0;
      },
      schedule: () => {
        throw new Error("no timer is needed");
      },
    };
    new RateLimiter({ maxRowsPerSecond: 1, clock });
    expect(reads).toBe(1);
  });
});

const NOT_A_COUNT: unknown[] = [-1, 0.5, NaN, Infinity, 2 ** 53, "1", null, 1n, {}, true];

describe("what is not a count", () => {
  test.each(NOT_A_COUNT)("acquire(%p) is a rejection, never a throw", async (n) => {
    const { limiter, clock } = setUp(5, 5);
    const call = limiter.acquire(n as number);
    await expect(call).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
      option: "n",
      requirement: "an integer from 0 up",
      received: n,
    });
    expect(limiter.stats()).toMatchObject({ available: 5, queued: 0, granted: 0, aborted: 0 });
    expect(clock.delays).toEqual([]);
  });

  test.each(
    (["tryAcquire", "estimateWaitMs", "refund", "charge"] as const).flatMap((method) =>
      NOT_A_COUNT.map((n) => [method, n] as const),
    ),
  )("%s(%p) throws and changes nothing", (method, n) => {
    const { limiter } = setUp(5, 5, { initialTokens: 2 });
    const error = refusalOf(() => {
      limiter[method](n as number);
    });
    expect(error).toMatchObject({ option: "n", received: n });
    expect(limiter.stats()).toMatchObject({ available: 2, granted: 0 });
  });

  test.each(["refund", "charge"] as const)("%s() without a number throws", (method) => {
    const { limiter } = setUp(5, 5);
    expect(
      refusalOf(() => {
        (limiter[method] as () => void)();
      }).received,
    ).toBeUndefined();
  });
});

describe("the options of acquire", () => {
  test.each<[string, unknown, string]>([
    ["maxWaitMs", -1, "a number of milliseconds from 0 up"],
    ["maxWaitMs", NaN, "a number of milliseconds from 0 up"],
    ["maxWaitMs", "100", "a number of milliseconds from 0 up"],
    ["maxWaitMs", null, "a number of milliseconds from 0 up"],
    ["signal", null, "an AbortSignal"],
    ["signal", {}, "an AbortSignal"],
    ["signal", new AbortController(), "an AbortSignal"],
  ])("%s: %p is refused, tokens or not", async (option, value, requirement) => {
    const { limiter } = setUp(5, 5);
    const options = { [option]: value } as AcquireOptions;
    await expect(limiter.acquire(1, options)).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
      option,
      requirement,
      received: value,
    });
    expect(limiter.stats()).toMatchObject({ available: 5, granted: 0 });
  });

  test.each([null, 5, "soon"])("%p in their place is refused", async (options) => {
    const { limiter } = setUp(5, 5);
    await expect(limiter.acquire(1, options as unknown as AcquireOptions)).rejects.toMatchObject({
      option: "options",
      received: options,
    });
  });

  test("undefined is what is left out; Infinity is no limit", async () => {
    const { limiter, clock, trace, acquire } = setUp(1, 1);
    await limiter.acquire(1, { signal: undefined, maxWaitMs: undefined });
    acquire("second", undefined, { maxWaitMs: Infinity });
    await clock.advance(1_000);
    expect(trace.events).toEqual(["second t1000"]);
  });
});

describe("pause", () => {
  test.each([-1, NaN, Infinity, "5", null, undefined])("refuses %p and pauses nothing", (ms) => {
    const { limiter } = setUp(5, 5);
    expect(
      refusalOf(() => {
        limiter.pause(ms as number);
      }),
    ).toMatchObject({ option: "ms", requirement: "a finite number of milliseconds from 0 up", received: ms });
    expect(limiter.stats()).toMatchObject({ available: 5, pausedForMs: 0 });
  });
});

describe("setRate", () => {
  test.each([undefined, null, 5])("refuses %p in place of options", (options) => {
    const { limiter } = setUp(5, 5);
    expect(
      refusalOf(() => {
        limiter.setRate(options as never);
      }).option,
    ).toBe("options");
    expect(limiter.stats().capacity).toBe(5);
  });
});

describe("wrap", () => {
  test("refuses what is no function", () => {
    const { limiter } = setUp(5, 5);
    expect(refusalOf(() => limiter.wrap("f" as never)).option).toBe("f");
    expect(refusalOf(() => limiter.wrap(() => Promise.resolve(), 2 as never)).option).toBe("cost");
  });
});

describe("perMinute and perHour", () => {
  test("give tokens a second", () => {
    expect(perMinute(60)).toBe(1);
    expect(perMinute(90)).toBe(1.5);
    expect(perHour(3_600)).toBe(1);
    expect(perHour(1)).toBe(1 / 3_600);
    expect(perMinute(Infinity)).toBe(Infinity);
  });

  test.each([0, -1, NaN, "60", undefined])("refuse %p", (n) => {
    expect(refusalOf(() => perMinute(n as number))).toMatchObject({ option: "n", received: n });
    expect(refusalOf(() => perHour(n as number))).toMatchObject({ option: "n", received: n });
  });
});
