import { describe, expect, test } from "@jest/globals";
import { QueueFullError, WaitTooLongError } from "../../../src/rate-limit/index.js";
import { setUp } from "./support/set-up.js";

describe("maxQueue", () => {
  test("0 means: now or never", async () => {
    const { clock, limiter } = setUp(1, 1, { maxQueue: 0, name: "api" });
    await limiter.acquire();
    const refused = limiter.acquire();
    await expect(refused).rejects.toBeInstanceOf(QueueFullError);
    await expect(refused).rejects.toMatchObject({ limiter: "api", maxQueue: 0, name: "QueueFullError" });
    expect(clock.delays).toEqual([]);
    await clock.advance(1_000);
    await limiter.acquire();
  });

  test("1 lets one wait, and another as soon as that one is gone", async () => {
    const { clock, trace, acquire } = setUp(1, 1, { maxQueue: 1 });
    const leave = new AbortController();
    acquire("first");
    acquire("waits", 1, { signal: leave.signal });
    acquire("refused");
    await clock.advance(100);
    leave.abort();
    await clock.advance(0);
    acquire("instead");
    acquire("refused too");
    await clock.advance(900);
    acquire("after it");
    await clock.advance(1_000);
    expect(trace.events).toEqual([
      ...["first t0", "refused failed t0", "waits failed t100", "refused too failed t100"],
      ...["instead t1000", "after it t2000"],
    ]);
  });

  test("says what to do", async () => {
    const { limiter } = setUp(1, 1, { maxQueue: 0, name: "api" });
    limiter.tryAcquire();
    await expect(limiter.acquire()).rejects.toThrow(
      'Limiter "api" has 0 callers waiting, as many as maxQueue allows. ' +
        "Call later, raise maxQueue, or bound the fan-out with map(f, items, { concurrency }).",
    );
  });
});

describe("maxWaitMs", () => {
  test("0 means: now or never, with the estimate in the error", async () => {
    const { limiter } = setUp(4, 1, { name: "api" });
    await limiter.acquire(1, { maxWaitMs: 0 });
    const refused = limiter.acquire(1, { maxWaitMs: 0 });
    await expect(refused).rejects.toBeInstanceOf(WaitTooLongError);
    await expect(refused).rejects.toMatchObject({ limiter: "api", estimatedWaitMs: 250, maxWaitMs: 0 });
    await expect(refused).rejects.toThrow(
      'Limiter "api" would need about 250 ms; the caller allows 0 ms. Call again in 250 ms, or allow more.',
    );
  });

  test("counts those in front", async () => {
    const { limiter } = setUp(1, 1);
    for (let n = 0; n < 4; n += 1) void limiter.acquire();
    await expect(limiter.acquire(2, { maxWaitMs: 4_999 })).rejects.toMatchObject({ estimatedWaitMs: 5_000 });
    void limiter.acquire(2, { maxWaitMs: 5_000 });
    expect(limiter.stats().queued).toBe(4);
  });

  test("an estimate that is exactly the limit is no reason to refuse, at any rate", async () => {
    for (const rate of [3, 7, 0.3, 1 / 7]) {
      const { clock, trace, acquire } = setUp(rate, 1);
      acquire("first");
      for (let n = 1; n <= 20; n += 1) acquire(`a${String(n)}`, 1, { maxWaitMs: (n * 1_000) / rate });
      await clock.advance(21_000 / rate);
      expect(trace.events.filter((event) => event.includes("failed"))).toEqual([]);
      expect(trace.events).toHaveLength(21);
    }
  });

  test("ends a wait that has grown, wherever the caller stands in line", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    acquire("first");
    acquire("head");
    acquire("middle", 1, { maxWaitMs: 2_500 });
    acquire("last");
    limiter.pause(4_000);
    await clock.advance(10_000);
    expect(trace.events).toEqual(["first t0", "middle failed t2500", "head t4000", "last t5000"]);
    expect(trace.reasonOf("middle")).toBeInstanceOf(WaitTooLongError);
    expect(trace.reasonOf("middle")).toMatchObject({ maxWaitMs: 2_500 });
    // The head alone would have kept it waiting until t4000.
    expect((trace.reasonOf("middle") as WaitTooLongError).estimatedWaitMs).toBeGreaterThanOrEqual(4_000);
  });

  test("of many deadlines each is kept, with one timer", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    await limiter.acquire();
    acquire("a", 1, { maxWaitMs: 9_300 });
    acquire("b", 1, { maxWaitMs: 9_100 });
    acquire("c", 1, { maxWaitMs: 9_200 });
    acquire("d", 1, { maxWaitMs: 9_100 });
    limiter.setRate({ maxRowsPerSecond: 0.01 });
    await clock.advance(10_000);
    expect(trace.events).toEqual(["b failed t9100", "d failed t9100", "c failed t9200", "a failed t9300"]);
    expect(clock.mostPending).toBe(1);
    expect(clock.pending).toBe(0);
  });

  test("those behind one who leaves move up at once", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 10);
    await limiter.acquire(10);
    acquire("large", 10, { maxWaitMs: 1_000 });
    acquire("small", 3);
    limiter.charge(5);
    await clock.advance(2_000);
    expect(trace.events).toEqual(["small t1000", "large failed t1000"]);
  });

  test("a wait that ends by tokens leaves no deadline behind", async () => {
    const { clock, limiter, acquire } = setUp(1, 1);
    acquire("first");
    acquire("second", 1, { maxWaitMs: 1_500 });
    acquire("third");
    await clock.advance(1_000);
    const armed = clock.delays.length;
    await clock.advance(999);
    expect(clock.delays).toHaveLength(armed);
    expect(limiter.stats().queued).toBe(1);
  });
});
