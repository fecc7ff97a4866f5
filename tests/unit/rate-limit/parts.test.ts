import { describe, expect, jest, test } from "@jest/globals";
import { Scope } from "../../../src/cancellation/index.js";
import { Alarm } from "../../../src/rate-limit/line/alarm.js";
import { Census } from "../../../src/rate-limit/line/census.js";
import { Departures, type Source } from "../../../src/rate-limit/line/departures.js";
import { LimiterClosedError, QueueFullError, WaitTooLongError } from "../../../src/rate-limit/index.js";
import { SkewedClock, WatchedClock } from "./support/clocks.js";

// The parts of a waiting line, each for itself.

describe("Alarm", () => {
  function alarmOn(clock: WatchedClock | SkewedClock): { alarm: Alarm; rung: number[] } {
    const rung: number[] = [];
    return { alarm: new Alarm(clock, (now) => rung.push(now)), rung };
  }

  test("goes off once, at its time", async () => {
    const clock = new WatchedClock();
    const { alarm, rung } = alarmOn(clock);
    alarm.set(100, 0);
    await clock.advance(500);
    expect(rung).toEqual([100]);
    expect(clock.pending).toBe(0);
  });

  test("an earlier time replaces a later one; a later one leaves it", async () => {
    const clock = new WatchedClock();
    const { alarm, rung } = alarmOn(clock);
    alarm.set(100, 0);
    alarm.set(200, 0);
    alarm.set(100, 0);
    expect(clock.delays).toEqual([100]);
    alarm.set(50, 0);
    expect(clock.pending).toBe(1);
    await clock.advance(500);
    expect(rung).toEqual([50]);
  });

  test("that is cleared is silent, and can be set again", async () => {
    const clock = new WatchedClock();
    const { alarm, rung } = alarmOn(clock);
    alarm.set(100, 0);
    alarm.clear();
    alarm.clear();
    expect(clock.pending).toBe(0);
    alarm.set(300, 0);
    await clock.advance(500);
    expect(rung).toEqual([300]);
    alarm.set(600, 500);
    await clock.advance(500);
    expect(rung).toEqual([300, 600]);
  });

  test("asks for no more than a timer can take", () => {
    const clock = new WatchedClock();
    const { alarm } = alarmOn(clock);
    alarm.set(1e12, 0);
    expect(clock.delays).toEqual([2 ** 31 - 1]);
    alarm.set(1e11, 0);
    expect(clock.delays).toHaveLength(1);
  });

  test("asks for a delay that moves the clock, also for a time that has passed", async () => {
    const clock = new WatchedClock();
    const { alarm, rung } = alarmOn(clock);
    await clock.advance(1e12);
    for (const at of [1e12, 1e12 - 5, 1e12 + 1e-7]) {
      const before = clock.now();
      alarm.set(at, before);
      await clock.advance(1);
      expect(rung.at(-1)).toBeGreaterThan(before);
    }
  });

  test("says the time at which it went off, early or late", async () => {
    const clock = new SkewedClock(-0.5);
    const { alarm, rung } = alarmOn(clock);
    alarm.set(100, 0);
    await clock.advance(100);
    expect(rung).toEqual([99.5]);
  });
});

describe("Census", () => {
  test("sums up the waiting of all without a time for each", () => {
    const census = new Census();
    census.change(1, 100);
    census.change(1, 150);
    expect(census.waiting).toBe(2);
    expect(census.waitedMs(200)).toBe(150);
    census.change(-1, 200);
    expect(census.waitedMs(300)).toBe(250);
    census.change(-1, 300);
    expect(census.waiting).toBe(0);
    expect(census.waitedMs(1_000)).toBe(250);
  });
});

describe("Departures", () => {
  /** Departures whose waiters are names that follow one source each, and what was told to leave. */
  function departures(): {
    following: Departures<string>;
    left: unknown[];
    follow: (source: Source, name: string) => void;
    unfollow: (name: string) => void;
  } {
    const sources = new Map<string, Source>();
    const left: unknown[] = [];
    const following = new Departures<string>((group, reason) => {
      for (const name of group) {
        left.push([name, reason]);
        unfollow(name);
      }
    });
    const unfollow = (name: string): void => {
      following.unfollow(sources.get(name) as Source, name);
    };
    const follow = (source: Source, name: string): void => {
      sources.set(name, source);
      following.follow(source, name);
    };
    return { following, left, follow, unfollow };
  }

  test.each(["signal", "scope"] as const)("all who follow one %s leave together, in order", (kind) => {
    const { left, follow, unfollow } = departures();
    const controller = new AbortController();
    const scope = new Scope();
    const source = kind === "signal" ? controller.signal : scope;
    for (const name of ["a", "b", "c"]) follow(source, name);
    unfollow("b");
    if (kind === "signal") controller.abort("over");
    else scope.release("over");
    expect(left).toEqual([
      ["a", "over"],
      ["c", "over"],
    ]);
  });

  test("one listener per source, none after the last has left, and a new one after that", () => {
    const { left, follow, unfollow } = departures();
    const scope = new Scope();
    const [add, remove] = [jest.spyOn(scope, "add"), jest.spyOn(scope, "remove")];
    for (const name of ["a", "b"]) follow(scope, name);
    expect(add).toHaveBeenCalledTimes(1);
    unfollow("a");
    expect(remove).toHaveBeenCalledTimes(0);
    unfollow("b");
    expect(remove).toHaveBeenCalledTimes(1);
    follow(scope, "c");
    expect(add).toHaveBeenCalledTimes(2);
    scope.release("over");
    expect(left).toEqual([["c", "over"]]);
  });

  test("a source says nothing to those who follow another", () => {
    const { left, follow } = departures();
    const [one, other] = [new AbortController(), new AbortController()];
    follow(one.signal, "a");
    follow(other.signal, "b");
    other.abort("over");
    expect(left).toEqual([["b", "over"]]);
  });
});

describe("the errors", () => {
  test("carry their facts, a name, a code and what to do", () => {
    expect(new QueueFullError("api", 3)).toMatchObject({
      name: "QueueFullError",
      code: "QUEUE_FULL",
      limiter: "api",
      maxQueue: 3,
    });
    const tooLong = new WaitTooLongError("api", 250.4, 99.9);
    expect(tooLong).toMatchObject({
      name: "WaitTooLongError",
      code: "WAIT_TOO_LONG",
      limiter: "api",
      estimatedWaitMs: 250.4,
      maxWaitMs: 99.9,
    });
    // Rounded so that who waits as long as it says is not refused again.
    expect(tooLong.message).toContain("about 251 ms; the caller allows 99 ms");
    expect(new LimiterClosedError("api", undefined)).toMatchObject({
      code: "LIMITER_CLOSED",
      limiter: "api",
    });
    expect(new LimiterClosedError("api", null).cause).toBeNull();
  });
});
