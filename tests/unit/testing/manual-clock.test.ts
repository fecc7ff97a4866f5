import { describe, expect, test } from "@jest/globals";
import { ManualClock } from "../../../src/testing/index.js";

/** A clock, and a log of what its timers did when. */
function setUp(): {
  clock: ManualClock;
  log: string[];
  timer: (name: string, delayMs: number) => () => void;
} {
  const clock = new ManualClock();
  const log: string[] = [];
  const timer = (name: string, delayMs: number): (() => void) =>
    clock.schedule(delayMs, () => {
      log.push(`${name} t${String(clock.now())}`);
    });
  return { clock, log, timer };
}

describe("the time", () => {
  test("is 0 at first and moves only when told, by fractions too", async () => {
    const clock = new ManualClock();
    expect(clock.now()).toBe(0);
    await clock.advance(10);
    await clock.advance(0.25);
    expect(clock.now()).toBe(10.25);
    await clock.advance(0);
    expect(clock.now()).toBe(10.25);
  });

  test.each([-1, NaN, Infinity, "5", undefined])("does not move by %p", async (ms) => {
    const clock = new ManualClock();
    await expect(clock.advance(ms as number)).rejects.toThrow(RangeError);
    expect(clock.now()).toBe(0);
  });

  test("during a callback is that of its timer", async () => {
    const { clock, log, timer } = setUp();
    timer("a", 3.5);
    await clock.advance(100);
    expect(log).toEqual(["a t3.5"]);
    expect(clock.now()).toBe(100);
  });
});

describe("timers", () => {
  test("fire in the order of their times", async () => {
    const { clock, log, timer } = setUp();
    timer("c", 30);
    timer("a", 10);
    timer("b", 20);
    expect(clock.pending).toBe(3);
    await clock.advance(20);
    expect(log).toEqual(["a t10", "b t20"]);
    expect(clock.pending).toBe(1);
    await clock.advance(10);
    expect(log).toEqual(["a t10", "b t20", "c t30"]);
    expect(clock.pending).toBe(0);
  });

  test("of one time fire in the order in which they were scheduled", async () => {
    const { clock, log, timer } = setUp();
    timer("first", 10);
    await clock.advance(4);
    timer("second", 6);
    timer("third", 6);
    await clock.advance(6);
    expect(log).toEqual(["first t10", "second t10", "third t10"]);
  });

  test("do not fire before their time", async () => {
    const { clock, log, timer } = setUp();
    timer("a", 10);
    await clock.advance(9.999_999);
    expect(log).toEqual([]);
  });

  test("of no delay fire with the next advance, also by 0", async () => {
    const { clock, log, timer } = setUp();
    timer("a", 0);
    expect(log).toEqual([]);
    await clock.advance(0);
    expect(log).toEqual(["a t0"]);
  });

  test("that are scheduled on the way fire on the way when they fall due", async () => {
    const { clock, log, timer } = setUp();
    clock.schedule(10, () => {
      timer("soon", 5);
      timer("at once", 0);
      timer("later", 100);
    });
    timer("b", 12);
    await clock.advance(50);
    expect(log).toEqual(["at once t10", "b t12", "soon t15"]);
    expect(clock.pending).toBe(1);
  });

  test("that repeat themselves fire as often as they fall due", async () => {
    const clock = new ManualClock();
    let fired = 0;
    const again = (): void => {
      fired += 1;
      clock.schedule(10, again);
    };
    clock.schedule(10, again);
    await clock.advance(1_000);
    expect(fired).toBe(100);
  });

  test.each([-1, NaN, 2 ** 31, Infinity, "5", undefined])("take no delay of %p", (delayMs) => {
    const clock = new ManualClock();
    expect(() => clock.schedule(delayMs as number, () => undefined)).toThrow(RangeError);
    expect(clock.pending).toBe(0);
  });

  test("take 2^31-1 ms", async () => {
    const { clock, log, timer } = setUp();
    timer("a", 2 ** 31 - 1);
    await clock.advance(2 ** 31);
    expect(log).toEqual(["a t2147483647"]);
  });
});

describe("cancelling", () => {
  test("takes the timer out; late or twice does nothing", async () => {
    const { clock, log, timer } = setUp();
    const cancel = timer("a", 10);
    const late = timer("b", 10);
    cancel();
    cancel();
    expect(clock.pending).toBe(1);
    await clock.advance(10);
    late();
    expect(log).toEqual(["b t10"]);
  });

  test("by an earlier timer of the same time works", async () => {
    const { clock, log, timer } = setUp();
    let cancel = (): void => undefined;
    clock.schedule(10, () => {
      cancel();
    });
    cancel = timer("a", 10);
    await clock.advance(10);
    expect(log).toEqual([]);
  });
});

describe("promises", () => {
  test("settle before the first timer, between two, and at the end", async () => {
    const { clock, log, timer } = setUp();
    const chain = async (name: string, steps: number): Promise<void> => {
      for (let step = 0; step < steps; step += 1) await Promise.resolve();
      log.push(`${name} t${String(clock.now())}`);
    };
    void chain("before", 40);
    clock.schedule(10, () => void chain("between", 40));
    timer("a", 10);
    clock.schedule(20, () => void chain("end", 40));
    await clock.advance(20);
    expect(log).toEqual(["before t0", "between t10", "a t10", "end t20"]);
  });

  test("a timer that a promise schedules on the way is seen", async () => {
    const { clock, log, timer } = setUp();
    clock.schedule(10, () => void Promise.resolve().then(() => timer("a", 5)));
    timer("b", 20);
    await clock.advance(20);
    expect(log).toEqual(["a t15", "b t20"]);
  });
});

describe("a callback that throws", () => {
  test("rejects the advance, and stops the clock there; the rest fires later", async () => {
    const { clock, log, timer } = setUp();
    const failure = new Error("callback");
    clock.schedule(10, () => {
      throw failure;
    });
    timer("a", 10);
    timer("b", 20);
    await expect(clock.advance(30)).rejects.toBe(failure);
    expect(clock.now()).toBe(10);
    expect(log).toEqual([]);
    expect(clock.pending).toBe(2);
    await clock.advance(10);
    expect(log).toEqual(["a t10", "b t20"]);
  });
});

describe("two advances at once", () => {
  test("fire each timer once and never move the time back", async () => {
    const { clock, log, timer } = setUp();
    for (const delay of [5, 10, 15, 20]) timer(String(delay), delay);
    const times: number[] = [];
    await Promise.all(
      [clock.advance(20), clock.advance(8)].map((move) => move.then(() => times.push(clock.now()))),
    );
    expect(log).toEqual(["5 t5", "10 t10", "15 t15", "20 t20"]);
    expect(clock.now()).toBe(20);
    expect(Math.min(...times)).toBeGreaterThanOrEqual(8);
  });
});
