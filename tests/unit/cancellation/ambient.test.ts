import { afterEach, describe, expect, test } from "@jest/globals";
import { ambientScope, Scope, timeLeftMs } from "../../../src/cancellation/index.js";
import { type Clock, systemClock } from "../../../src/clock.js";
import { registry } from "../../../src/internal/registry.js";
import { ManualClock } from "../../../src/testing/index.js";

afterEach(() => {
  registry().ambientScope = undefined;
});

describe("ambientScope", () => {
  test("is undefined where nobody fills the slot, and outside every scope", () => {
    expect(ambientScope()).toBeUndefined();
    registry().ambientScope = () => undefined;
    expect(ambientScope()).toBeUndefined();
  });

  test("is what the slot says at that moment", () => {
    const scopes = [new Scope(), new Scope()];
    let index = 0;
    registry().ambientScope = () => scopes[index];
    expect(ambientScope()).toBe(scopes[0]);
    index = 1;
    expect(ambientScope()).toBe(scopes[1]);
  });
});

describe("timeLeftMs", () => {
  const clock = new ManualClock();

  test("is Infinity without a scope or without a deadline", () => {
    expect(timeLeftMs(undefined, clock, 0)).toBe(Infinity);
    expect(timeLeftMs(new Scope(), clock, 0)).toBe(Infinity);
  });

  test("is the rest on the same clock, below 0 when it has passed", () => {
    const scope = new Scope(undefined, { clock, at: 100 });
    expect([0, 100, 130].map((now) => timeLeftMs(scope, clock, now))).toEqual([100, 0, -30]);
  });

  test("is Infinity on another clock", () => {
    const scope = new Scope(undefined, { clock, at: 100 });
    expect(timeLeftMs(scope, new ManualClock(), 0)).toBe(Infinity);
    expect(timeLeftMs(scope, systemClock, 0)).toBe(Infinity);
  });

  test("is the rest between the system clocks of two copies", () => {
    const other: Clock = { ...systemClock };
    expect(timeLeftMs(new Scope(undefined, { clock: other, at: 100 }), systemClock, 40)).toBe(60);
  });
});
