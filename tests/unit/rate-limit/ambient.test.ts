import { describe, expect, jest, test } from "@jest/globals";
import { Scope } from "../../../src/cancellation/index.js";
import { systemClock } from "../../../src/clock.js";
import { WaitTooLongError } from "../../../src/rate-limit/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { inScope } from "../../support/ambient.js";
import { labels, setUp } from "./support/set-up.js";

describe("the end of the scope around", () => {
  test.each(["release", "abort"] as const)("by %s lets who waits in it go, with its reason", async (way) => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    const scope = new Scope();
    const reason = new Error("over");
    acquire("first");
    inScope(scope, () => {
      for (const label of labels("in", 3)) acquire(label);
    });
    acquire("out");
    await clock.advance(400);
    scope[way](reason);
    expect(limiter.stats()).toMatchObject({ queued: 1, aborted: 3 });
    await clock.advance(5_000);
    expect(trace.events).toEqual([
      "first t0",
      "in1 failed t400",
      "in2 failed t400",
      "in3 failed t400",
      "out t1000",
    ]);
    expect(trace.reasonOf("in2")).toBe(reason);
  });

  test("reaches the scopes inside it, and no other", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    const outer = new Scope();
    const [inner, beside] = [new Scope(outer), new Scope()];
    await limiter.acquire();
    inScope(inner, () => {
      acquire("inner");
    });
    inScope(beside, () => {
      acquire("beside");
    });
    outer.release("over");
    await clock.advance(1_000);
    expect(trace.events).toEqual(["inner failed t0", "beside t1000"]);
  });

  test("refuses what begins after it, tokens or not", async () => {
    const { limiter } = setUp(5, 5);
    const scope = new Scope();
    scope.release("over");
    await expect(inScope(scope, () => limiter.acquire())).rejects.toBe("over");
    await expect(inScope(scope, () => limiter.acquire(0))).rejects.toBe("over");
    expect(limiter.stats()).toMatchObject({ available: 5, granted: 0, aborted: 0 });
  });

  test("leaves the calls alone that do not wait", () => {
    const { limiter } = setUp(5, 5);
    const scope = new Scope();
    scope.release("over");
    expect(inScope(scope, () => limiter.tryAcquire())).toBe(true);
    expect(inScope(scope, () => limiter.estimateWaitMs())).toBe(0);
  });

  test("and a signal: the first of them counts, and both are left", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    const leave = new AbortController();
    const scope = new Scope();
    await limiter.acquire();
    inScope(scope, () => {
      acquire("a", 1, { signal: leave.signal });
      acquire("b", 1, { signal: new AbortController().signal });
    });
    leave.abort("signal");
    scope.release("scope");
    await clock.advance(0);
    expect([trace.reasonOf("a"), trace.reasonOf("b")]).toEqual(["signal", "scope"]);
    expect(limiter.stats()).toMatchObject({ queued: 0, aborted: 2 });
  });

  test("lets 10,000 go at once, by one listener", async () => {
    const { clock, limiter } = setUp(1, 1);
    const scope = new Scope();
    const add = jest.spyOn(scope, "add");
    const calls = inScope(scope, () => Array.from({ length: 10_000 }, () => limiter.acquire()));
    expect(add).toHaveBeenCalledTimes(1);
    scope.abort("over");
    const results = await Promise.allSettled(calls);
    expect(results.filter((result) => result.status === "rejected" && result.reason === "over")).toHaveLength(
      9_999,
    );
    expect(clock.pending).toBe(0);
  });

  test("has no listener left when nobody of it waits", async () => {
    const { clock, limiter, acquire } = setUp(1, 1);
    const scope = new Scope();
    const [add, remove] = [jest.spyOn(scope, "add"), jest.spyOn(scope, "remove")];
    inScope(scope, () => {
      for (const label of labels("a", 4)) acquire(label);
    });
    expect([add.mock.calls.length, remove.mock.calls.length]).toEqual([1, 0]);
    await clock.advance(3_000);
    expect(limiter.stats().granted).toBe(4);
    expect([add.mock.calls.length, remove.mock.calls.length]).toEqual([1, 1]);
    expect(remove.mock.calls[0]).toEqual(add.mock.calls[0]);
  });
});

describe("the deadline of the scope around", () => {
  const scopeUntil = (clock: ManualClock, at: number): Scope => new Scope(undefined, { clock, at });

  test("on the same clock refuses a wait that cannot fit, at once", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    await clock.advance(10_000);
    await limiter.acquire();
    inScope(scopeUntil(clock, 10_999), () => {
      acquire("too long");
    });
    inScope(scopeUntil(clock, 11_000), () => {
      acquire("fits");
      acquire("too long behind it");
    });
    await clock.advance(0);
    expect(trace.events).toEqual(["too long failed t10000", "too long behind it failed t10000"]);
    expect(trace.reasonOf("too long")).toBeInstanceOf(WaitTooLongError);
    expect(trace.reasonOf("too long")).toMatchObject({ estimatedWaitMs: 1_000, maxWaitMs: 999 });
    expect(trace.reasonOf("too long behind it")).toMatchObject({ estimatedWaitMs: 2_000, maxWaitMs: 1_000 });
    await clock.advance(1_000);
    expect(trace.events.at(-1)).toBe("fits t11000");
  });

  test("and maxWaitMs: the shorter counts", async () => {
    const { clock, limiter } = setUp(1, 1);
    await limiter.acquire();
    await inScope(scopeUntil(clock, 500), async () => {
      await expect(limiter.acquire(1, { maxWaitMs: 200 })).rejects.toMatchObject({ maxWaitMs: 200 });
    });
    await inScope(scopeUntil(clock, 500), async () => {
      await expect(limiter.acquire(1, { maxWaitMs: 5_000 })).rejects.toMatchObject({ maxWaitMs: 500 });
    });
  });

  test("that has passed refuses also what would not wait: its time is over (F36)", async () => {
    const { clock, limiter } = setUp(5, 5);
    await clock.advance(100);
    const late = scopeUntil(clock, 99);
    const refused = inScope(late, () => limiter.acquire());
    await expect(refused).rejects.toBeInstanceOf(WaitTooLongError);
    await expect(refused).rejects.toMatchObject({ estimatedWaitMs: 0, maxWaitMs: 0 });
    expect(limiter.stats()).toMatchObject({ available: 5, granted: 0 });
    await inScope(scopeUntil(clock, 100), () => limiter.acquire());
  });

  test("on another clock is not compared; the end of the scope still comes", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    await clock.advance(10_000);
    await limiter.acquire();
    const scope = scopeUntil(new ManualClock(), 1);
    inScope(scope, () => {
      acquire("a");
      acquire("b");
    });
    inScope(new Scope(undefined, { clock: systemClock, at: 0 }), () => {
      acquire("c");
    });
    await clock.advance(1_000);
    scope.abort("over");
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a t11000", "b failed t11000", "c t12000"]);
  });

  test("moves nobody who waits already: the wait that grows ends with the scope", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    await limiter.acquire();
    const scope = scopeUntil(clock, 1_500);
    clock.schedule(1_500, () => {
      scope.abort("time is over");
    });
    inScope(scope, () => {
      acquire("a");
    });
    limiter.charge(3);
    await clock.advance(5_000);
    expect(trace.events).toEqual(["a failed t1500"]);
    expect(trace.reasonOf("a")).toBe("time is over");
  });
});
