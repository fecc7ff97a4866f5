import { afterEach, describe, expect, test } from "@jest/globals";
import { Scope } from "../../../src/cancellation/index.js";
import { registry } from "../../../src/internal/registry.js";
import {
  type Clock,
  KeyedRateLimiter,
  type LimiterObserver,
  observeLimiters,
  RateBudget,
  RateLimiter,
  WaitTooLongError,
} from "../../../src/rate-limit/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { inScope } from "../../support/ambient.js";
import { setUp } from "./support/set-up.js";

const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
  expect(registry().limiterObserver).toBeUndefined();
});

function observe(observer: LimiterObserver): () => void {
  const end = observeLimiters(observer);
  ends.push(end);
  return end;
}

/** An observer that writes everything down. */
function recorder(): { observer: LimiterObserver; events: unknown[][] } {
  const events: unknown[][] = [];
  return {
    events,
    observer: {
      waited: ({ limiter, cost }) => events.push(["waited", limiter, cost]),
      granted: ({ limiter, cost, waitedMs }) => events.push(["granted", limiter, cost, waitedMs]),
      left: ({ limiter, cost, waitedMs, reason }) => events.push(["left", limiter, cost, waitedMs, reason]),
      refused: ({ limiter, cost, reason }) => events.push(["refused", limiter, cost, reason]),
      paused: ({ limiter, ms }) => events.push(["paused", limiter, ms]),
    },
  };
}

describe("observeLimiters", () => {
  test("tells who waited, who was granted after how long, who left and why", async () => {
    const { observer, events } = recorder();
    observe(observer);
    const { clock, limiter, acquire } = setUp(10, 5, { name: "api" });
    const leave = new AbortController();
    acquire("first", 5);
    limiter.tryAcquire();
    acquire("a", 2);
    acquire("b", 1, { signal: leave.signal });
    acquire("c", 1, { maxWaitMs: 1_000 });
    expect(events.splice(0)).toEqual([
      ["granted", "api", 5, 0],
      ["waited", "api", 2],
      ["waited", "api", 1],
      ["waited", "api", 1],
    ]);
    await clock.advance(100);
    leave.abort("why");
    expect(events.splice(0)).toEqual([["left", "api", 1, 100, "why"]]);
    await clock.advance(100);
    expect(events.splice(0)).toEqual([["granted", "api", 2, 200]]);
    limiter.charge(20);
    await clock.advance(800);
    expect(events.splice(0)).toEqual([["left", "api", 1, 1_000, expect.any(WaitTooLongError)]]);
    acquire("d");
    limiter.close();
    expect(events).toEqual([
      ["waited", "api", 1],
      ["left", "api", 1, 0, expect.objectContaining({ code: "LIMITER_CLOSED" })],
    ]);
  });

  test("tells of pauses: how long nobody is granted from now", async () => {
    const { observer, events } = recorder();
    observe(observer);
    const { clock, limiter } = setUp(10, 5);
    limiter.pause(1_000);
    await clock.advance(400);
    limiter.pause(100);
    expect(events).toEqual([
      ["paused", "limiter", 1_000],
      ["paused", "limiter", 600],
    ]);
  });

  test("tells who was refused at once and why: closed, aborted, scope over, full, wait too long", async () => {
    const { observer, events } = recorder();
    observe(observer);
    const { limiter } = setUp(1, 1, { name: "api", maxQueue: 1, initialTokens: 0 });
    const signal = AbortSignal.abort("why");
    const scope = new Scope();
    scope.release("over");
    const refusals = [
      limiter.acquire(2, { signal }),
      inScope(scope, () => limiter.acquire(3)),
      limiter.acquire(4, { maxWaitMs: 100 }),
      limiter.acquire(5),
      limiter.acquire(6),
    ];
    limiter.close();
    refusals.push(limiter.acquire(7), limiter.acquire(0));
    const reasons = await Promise.all(refusals.map((call) => call.catch((error: unknown) => error)));
    expect(events).toEqual([
      ["refused", "api", 2, "why"],
      ["refused", "api", 3, "over"],
      ["refused", "api", 4, expect.objectContaining({ code: "WAIT_TOO_LONG" })],
      ["waited", "api", 5],
      ["refused", "api", 6, expect.objectContaining({ code: "QUEUE_FULL" })],
      ["left", "api", 5, 0, expect.objectContaining({ code: "LIMITER_CLOSED" })],
      ["refused", "api", 7, expect.objectContaining({ code: "LIMITER_CLOSED" })],
      ["refused", "api", 0, expect.objectContaining({ code: "LIMITER_CLOSED" })],
    ]);
    // The very error that the caller gets.
    const told = events.map((event) => (event[0] === "waited" ? undefined : event.at(-1)));
    expect(told[4]).toBe(reasons[4]);
    expect(told[2]).toBe(reasons[2]);
  });

  test("tells of budgets and of keys too; a key that has no place is refused under the common name", async () => {
    const { observer, events } = recorder();
    observe(observer);
    const clock = new ManualClock();
    const budget = new RateBudget(
      { tokens: { maxRowsPerSecond: 1 } },
      { name: "budget", maxQueue: 0, clock },
    );
    await budget.acquire({ tokens: 1 });
    await expect(budget.acquire({ tokens: 2 })).rejects.toThrow();
    const keyed = new KeyedRateLimiter<string>({ maxRowsPerSecond: 1, name: "keyed", maxKeys: 1, clock });
    await keyed.acquire("secret-a");
    await expect(keyed.acquire("secret-b")).rejects.toThrow();
    await expect(keyed.acquire("secret-b", 3)).rejects.toThrow();
    expect(events).toEqual([
      ["granted", "budget", { tokens: 1 }, 0],
      ["refused", "budget", { tokens: 2 }, expect.objectContaining({ code: "QUEUE_FULL" })],
      ["granted", "keyed", 1, 0],
      ["refused", "keyed", 1, expect.objectContaining({ code: "KEY_LIMIT" })],
      ["refused", "keyed", 3, expect.objectContaining({ code: "KEY_LIMIT" })],
    ]);
  });

  test("says nothing of a mistake, of n = 0, and of a tryAcquire in vain", async () => {
    const { observer, events } = recorder();
    observe(observer);
    const { limiter } = setUp(1, 1, { initialTokens: 0 });
    await limiter.acquire(0);
    await expect(limiter.acquire(-1)).rejects.toThrow();
    limiter.tryAcquire();
    limiter.close();
    expect(() => limiter.tryAcquire()).toThrow();
    expect(events).toEqual([]);
  });

  test("one object stands for a caller from its joining to its end", async () => {
    const { clock, limiter, acquire } = setUp(10, 1);
    acquire("first");
    acquire("before", 1, { signal: new AbortController().signal });
    const calls: [string, object | undefined][] = [];
    observe({
      waited: ({ call }) => calls.push(["waited", call]),
      granted: ({ call }) => calls.push(["granted", call]),
      left: ({ call }) => calls.push(["left", call]),
    });
    acquire("a");
    acquire("b", 1, { signal: new AbortController().signal });
    acquire("c", 1, { maxWaitMs: 1_000 });
    await clock.advance(300);
    limiter.close();
    const [a, b, c] = calls.slice(0, 3).map(([, call]) => call);
    expect(new Set([a, b, c]).size).toBe(3);
    expect(calls.slice(3).map(([what]) => what)).toEqual(["granted", "granted", "granted", "left"]);
    expect(calls[3]?.[1]).toBeUndefined(); // of the one who had joined before
    expect(calls.slice(4).map(([, call]) => [a, b, c].indexOf(call))).toEqual([0, 1, 2]);
    const other = setUp(10, 1).limiter;
    await other.acquire();
    expect(calls.at(-1)).toEqual(["granted", undefined]);
  });

  test("of one who is gone before its joining is complete it tells only the end", async () => {
    const { observer, events } = recorder();
    observe(observer);
    let time = 0;
    const skipping: Clock = {
      now: () => time,
      schedule: (delayMs, ring) => {
        time += delayMs;
        ring();
        return () => undefined;
      },
    };
    const timeless: Clock = {
      now: () => 0,
      schedule: () => {
        throw new Error("no timer");
      },
    };
    const [fast, broken] = [skipping, timeless].map(
      (clock) => new RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0, clock }),
    ) as [RateLimiter, RateLimiter];
    await fast.acquire();
    await expect(broken.acquire()).rejects.toThrow("no timer");
    expect(events).toEqual([
      ["granted", "limiter", 1, 1_000],
      ["left", "limiter", 1, 0, new Error("no timer")],
    ]);
  });

  test("watches every limiter, also those made before", async () => {
    const [old, other] = [setUp(1, 1, { name: "old" }), setUp(1, 1, { name: "other" })];
    const { observer, events } = recorder();
    observe(observer);
    await old.limiter.acquire();
    await other.limiter.acquire();
    expect(events).toEqual([
      ["granted", "old", 1, 0],
      ["granted", "other", 1, 0],
    ]);
  });

  test("does not know how long those have waited who came before it", async () => {
    const { clock, acquire } = setUp(1, 1);
    acquire("first");
    acquire("before");
    const { observer, events } = recorder();
    observe(observer);
    acquire("after");
    await clock.advance(2_000);
    expect(events).toEqual([
      ["waited", "limiter", 1],
      ["granted", "limiter", 1, 0],
      ["granted", "limiter", 1, 2_000],
    ]);
  });

  test("ends when told, for that observer only", async () => {
    const [one, other] = [recorder(), recorder()];
    const end = observe(one.observer);
    observe(other.observer);
    const { limiter } = setUp(10, 5);
    await limiter.acquire();
    end();
    end();
    await limiter.acquire();
    expect(one.events).toHaveLength(1);
    expect(other.events).toHaveLength(2);
  });

  test("an observer that throws harms neither the others nor the limiter", async () => {
    const fail = (): never => {
      throw new Error("observer");
    };
    observe({ waited: fail, granted: fail, left: fail, refused: fail, paused: fail });
    const { observer, events } = recorder();
    observe(observer);
    const { clock, limiter, trace, acquire } = setUp(10, 1);
    const leave = new AbortController();
    acquire("first");
    acquire("a");
    acquire("b", 1, { signal: leave.signal });
    leave.abort();
    acquire("c", 1, { signal: leave.signal });
    limiter.pause(50);
    await clock.advance(1_000);
    expect(trace.events).toEqual(["first t0", "c failed t0", "b failed t0", "a t100"]);
    expect(events.map(([what]) => what)).toEqual([
      "granted",
      "waited",
      "waited",
      "left",
      "refused",
      "paused",
      "granted",
    ]);
  });

  test("an observer that is async and fails harms nobody either", async () => {
    const unhandled: unknown[] = [];
    const listener = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", listener);
    let told = 0;
    observe({
      // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the compiler lets it pass, so users write it
      granted: async () => {
        told += 1;
        await Promise.resolve();
        throw new Error("from the observer");
      },
    });
    const { limiter } = setUp(10, 1);
    await limiter.acquire();
    await new Promise(setImmediate);
    process.off("unhandledRejection", listener);
    expect(told).toBe(1);
    expect(unhandled).toEqual([]);
  });

  test("the same observer twice is told twice, and ends one at a time", async () => {
    let granted = 0;
    const observer: LimiterObserver = { granted: () => void (granted += 1) };
    const endFirst = observe(observer);
    observe(observer);
    const { limiter } = setUp(10, 3);
    await limiter.acquire();
    expect(granted).toBe(2);
    endFirst();
    endFirst();
    await limiter.acquire();
    expect(granted).toBe(3);
  });

  test("an observer may have only some of the methods", async () => {
    let granted = 0;
    observe({ granted: () => void (granted += 1) });
    const { clock, limiter, acquire } = setUp(10, 1);
    acquire("first");
    acquire("a");
    limiter.pause(5);
    await clock.advance(100);
    acquire("b");
    limiter.close();
    expect(granted).toBe(2);
  });

  test("is told when a change is complete: who has joined is in line, and who has left is not", () => {
    const { limiter, acquire } = setUp(10, 1, { maxQueue: 3 });
    const queued: [string, number][] = [];
    const note = (event: string) => (): void => {
      queued.push([event, limiter.stats().queued]);
    };
    observe({ waited: note("waited"), left: note("left"), refused: note("refused") });
    const leave = new AbortController();
    for (const label of ["first", "a", "b", "c", "d"]) acquire(label, 1, { signal: leave.signal });
    leave.abort();
    expect(queued).toEqual([
      ["waited", 1],
      ["waited", 2],
      ["waited", 3],
      ["refused", 3],
      ["left", 0],
      ["left", 0],
      ["left", 0],
    ]);
  });

  test("an observer may use the limiter", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 1);
    acquire("first");
    let stats: { queued: number } | undefined;
    observe({
      granted: () => {
        stats ??= limiter.stats();
        if (limiter.stats().granted === 2) acquire("from the observer");
      },
    });
    acquire("a");
    acquire("b");
    await clock.advance(1_000);
    expect(stats?.queued).toBe(1);
    expect(trace.events).toEqual(["first t0", "a t100", "b t200", "from the observer t300"]);
  });
});
