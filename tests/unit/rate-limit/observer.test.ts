import { afterEach, describe, expect, test } from "@jest/globals";
import { registry } from "../../../src/internal/registry.js";
import { type LimiterObserver, observeLimiters, WaitTooLongError } from "../../../src/rate-limit/index.js";
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

  test("says nothing of who was refused, and of n = 0", async () => {
    const { observer, events } = recorder();
    observe(observer);
    const { limiter } = setUp(1, 1, { maxQueue: 0, initialTokens: 0 });
    await limiter.acquire(0);
    await expect(limiter.acquire()).rejects.toThrow();
    await expect(limiter.acquire(-1)).rejects.toThrow();
    limiter.tryAcquire();
    expect(events).toEqual([]);
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
    observe({ waited: fail, granted: fail, left: fail, paused: fail });
    const { observer, events } = recorder();
    observe(observer);
    const { clock, limiter, trace, acquire } = setUp(10, 1);
    const leave = new AbortController();
    acquire("first");
    acquire("a");
    acquire("b", 1, { signal: leave.signal });
    leave.abort();
    limiter.pause(50);
    await clock.advance(1_000);
    expect(trace.events).toEqual(["first t0", "b failed t0", "a t100"]);
    expect(events.map(([what]) => what)).toEqual([
      "granted",
      "waited",
      "waited",
      "left",
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
