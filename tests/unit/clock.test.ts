import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { type Clock, isSameClock, MAX_DELAY_MS, systemClock } from "../../src/clock.js";
import { ManualClock } from "../../src/testing/index.js";

afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

describe("systemClock", () => {
  test("reads the monotonic time of the platform", () => {
    jest.spyOn(performance, "now").mockReturnValue(1_234.5);
    expect(systemClock.now()).toBe(1_234.5);
  });

  test("does not look at the wall clock", () => {
    const wall = jest.spyOn(Date, "now");
    const before = systemClock.now();
    expect(systemClock.now()).toBeGreaterThanOrEqual(before);
    expect(wall).not.toHaveBeenCalled();
  });

  test.each([
    [16.67, 17],
    [0.2, 1],
    [5, 5],
    [0, 0],
    [MAX_DELAY_MS, MAX_DELAY_MS],
  ])("rounds a delay of %d up to %d: timers drop fractions", (delay, asked) => {
    const timer = jest.spyOn(globalThis, "setTimeout");
    systemClock.schedule(delay, () => undefined)();
    expect(timer.mock.calls[0]?.[1]).toBe(asked);
  });

  test("calls back once, and not when it was cancelled", async () => {
    jest.useFakeTimers();
    const [kept, cancelled] = [jest.fn(), jest.fn()];
    const cancel = systemClock.schedule(10, kept);
    systemClock.schedule(10, cancelled)();
    await jest.advanceTimersByTimeAsync(100);
    expect(kept).toHaveBeenCalledTimes(1);
    expect(cancelled).not.toHaveBeenCalled();
    cancel();
    cancel();
    expect(jest.getTimerCount()).toBe(0);
  });

  test("its timers hold the process: somebody waits for them", () => {
    const timer = jest.spyOn(globalThis, "setTimeout");
    const cancel = systemClock.schedule(1_000, () => undefined);
    const made = timer.mock.results[0]?.value as NodeJS.Timeout;
    expect(made.hasRef()).toBe(true);
    cancel();
  });

  test("obeys timers that are faked after the import", async () => {
    jest.useFakeTimers();
    const start = systemClock.now();
    await jest.advanceTimersByTimeAsync(250);
    expect(systemClock.now() - start).toBe(250);
  });

  test("the longest delay is the longest that a timer takes", () => {
    expect(MAX_DELAY_MS).toBe(2_147_483_647);
  });
});

describe("isSameClock", () => {
  test("a clock is the same as itself only", () => {
    const [one, other] = [new ManualClock(), new ManualClock()];
    expect(isSameClock(one, one)).toBe(true);
    expect(isSameClock(one, other)).toBe(false);
    expect(isSameClock(one, systemClock)).toBe(false);
    expect(isSameClock(systemClock, one)).toBe(false);
  });

  test("the system clocks of two copies of the package are the same", async () => {
    let copy: { systemClock: Clock; isSameClock: typeof isSameClock } | undefined;
    await jest.isolateModulesAsync(async () => {
      copy = await import("../../src/clock.js");
    });
    expect(copy?.systemClock).not.toBe(systemClock);
    expect(isSameClock(systemClock, copy?.systemClock as Clock)).toBe(true);
    expect(copy?.isSameClock(copy.systemClock, systemClock)).toBe(true);
  });
});
