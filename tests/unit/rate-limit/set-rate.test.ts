import { describe, expect, test } from "@jest/globals";
import { labels, setUp } from "./support/set-up.js";

describe("setRate", () => {
  test("moves those who wait to their new time, in their order", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    for (const label of labels("a", 4)) acquire(label);
    await clock.advance(1_500);
    limiter.setRate({ maxRowsPerSecond: 5 });
    await clock.advance(1_000);
    // Half a token was there at t1500; the other half takes 100 ms.
    expect(trace.events).toEqual(["a1 t0", "a2 t1000", "a3 t1600", "a4 t1800"]);
  });

  test("to a lower rate makes them wait longer", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 1);
    for (const label of labels("a", 3)) acquire(label);
    await clock.advance(50);
    limiter.setRate({ maxRowsPerSecond: 1 });
    await clock.advance(5_000);
    expect(trace.events).toEqual(["a1 t0", "a2 t550", "a3 t1550"]);
  });

  test("keeps what is left out", async () => {
    const { clock, limiter } = setUp(10, 20);
    limiter.setRate({ maxRowsPerSecond: 30 });
    expect(limiter.stats().capacity).toBe(60);
    limiter.setRate({ burstWindowSecs: 0.5 });
    expect(limiter.stats().capacity).toBe(15);
    limiter.setRate({});
    expect(limiter.stats().capacity).toBe(15);
    limiter.charge(15);
    await clock.advance(100);
    expect(limiter.stats().available).toBe(3);
  });

  test("keeps the level in tokens, up to the new capacity", async () => {
    const { clock, limiter } = setUp(10, 10, { initialTokens: 6 });
    limiter.setRate({ maxRowsPerSecond: 100 });
    expect(limiter.stats().available).toBe(6);
    limiter.setRate({ maxRowsPerSecond: 4 });
    expect(limiter.stats()).toMatchObject({ available: 4, capacity: 4 });
    await clock.advance(60_000);
    expect(limiter.stats().available).toBe(4);
  });

  test("keeps debt", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 10);
    limiter.charge(15);
    limiter.setRate({ maxRowsPerSecond: 1, burstWindowSecs: 0 });
    expect(limiter.stats().available).toBe(-5);
    acquire("a");
    await clock.advance(10_000);
    expect(trace.events).toEqual(["a t6000"]);
  });

  test("keeps a pause", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    limiter.pause(1_000);
    acquire("a");
    limiter.setRate({ maxRowsPerSecond: 1_000 });
    expect(limiter.stats().pausedForMs).toBe(1_000);
    await clock.advance(2_000);
    expect(trace.events).toEqual(["a t1000"]);
  });

  test("to Infinity serves all who wait, and back from it starts with a full bucket", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    limiter.charge(10);
    acquire("a", 500);
    acquire("b");
    limiter.setRate({ maxRowsPerSecond: Infinity });
    await clock.advance(0);
    expect(trace.events).toEqual(["a t0", "b t0"]);
    expect(limiter.stats()).toMatchObject({ available: Infinity, capacity: Infinity });
    limiter.setRate({ maxRowsPerSecond: 3, burstWindowSecs: 1 });
    expect(limiter.stats()).toMatchObject({ available: 3, capacity: 3 });
    expect(clock.pending).toBe(0);
  });

  test("lets a request that no longer fits wait, and one that fits now go", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 10, { initialTokens: 8 });
    acquire("a", 10);
    await clock.advance(1_000);
    limiter.setRate({ maxRowsPerSecond: 1, burstWindowSecs: 2 });
    // The request heads the line, so the nine tokens saved for it stay its own.
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a t2000"]);
  });

  test("makes a known deadline unreachable: the caller leaves at the deadline", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    acquire("first");
    acquire("a", 1, { maxWaitMs: 1_000 });
    limiter.setRate({ maxRowsPerSecond: 0.1 });
    await clock.advance(60_000);
    expect(trace.events).toEqual(["first t0", "a failed t1000"]);
  });

  test("of a closed limiter harms nobody", () => {
    const { limiter } = setUp(1, 1);
    limiter.close();
    limiter.setRate({ maxRowsPerSecond: 2 });
    expect(limiter.stats().capacity).toBe(2);
  });
});
