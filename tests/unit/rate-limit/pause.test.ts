import { describe, expect, test } from "@jest/globals";
import { labels, setUp } from "./support/set-up.js";

describe("pause", () => {
  test("grants nobody until it ends, tokens or not", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 5);
    limiter.pause(1_000);
    acquire("a");
    expect(limiter.stats()).toMatchObject({ queued: 1, pausedForMs: 1_000 });
    await clock.advance(999);
    expect(trace.events).toEqual([]);
    expect(limiter.stats().pausedForMs).toBe(1);
    await clock.advance(1);
    expect(trace.events).toEqual(["a t1000"]);
    expect(limiter.stats().pausedForMs).toBe(0);
  });

  test("holds those who wait already", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 1);
    await limiter.acquire();
    acquire("a");
    await clock.advance(50);
    limiter.pause(300);
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a t350"]);
  });

  test("is followed by the rate, not by a burst", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 5);
    limiter.pause(2_000);
    for (const label of labels("a", 4)) acquire(label);
    await clock.advance(5_000);
    expect(trace.events).toEqual(["a1 t2000", "a2 t2100", "a3 t2200", "a4 t2300"]);
  });

  test("nor does one burst come when nobody has waited", async () => {
    const { clock, limiter } = setUp(10, 5);
    limiter.pause(2_000);
    await clock.advance(2_000);
    expect([limiter.tryAcquire(), limiter.tryAcquire()]).toEqual([true, false]);
  });

  test("lets the bucket fill again afterwards", async () => {
    const { clock, limiter } = setUp(10, 5);
    limiter.pause(2_000);
    await clock.advance(2_300);
    expect(limiter.stats().available).toBe(4);
    await clock.advance(60_000);
    expect(limiter.stats().available).toBe(5);
  });

  test("pays debt off", async () => {
    const { clock, limiter } = setUp(10, 5);
    limiter.charge(15);
    limiter.pause(600);
    await clock.advance(600);
    expect(limiter.stats().available).toBe(-4);
  });

  test("of two the one that ends later holds, in either order", async () => {
    const { clock, limiter } = setUp(10, 5);
    limiter.pause(1_000);
    limiter.pause(300);
    expect(limiter.stats().pausedForMs).toBe(1_000);
    await clock.advance(900);
    limiter.pause(300);
    expect(limiter.stats().pausedForMs).toBe(300);
    limiter.pause(50);
    expect(limiter.stats().pausedForMs).toBe(300);
  });

  test("a second one after the first leaves one token again", async () => {
    const { clock, limiter } = setUp(10, 5);
    limiter.pause(100);
    await clock.advance(400);
    limiter.pause(100);
    await clock.advance(100);
    expect(limiter.stats().available).toBe(1);
  });

  test("holds a request above the capacity, too", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 5);
    acquire("large", 25);
    await clock.advance(1_500);
    limiter.pause(1_000);
    await clock.advance(10_000);
    // At its end, t2500, one token is left of what had been saved up.
    expect(trace.events).toEqual(["large t4900"]);
  });

  test("holds a limiter without a limit, and lets all go at its end", async () => {
    const { clock, limiter, trace, acquire } = setUp(Infinity, Infinity, { burstWindowSecs: 1 });
    limiter.pause(100);
    acquire("a", 1_000);
    acquire("b", 1_000);
    await clock.advance(100);
    expect(trace.events).toEqual(["a t100", "b t100"]);
  });

  test("does not stop those who leave", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 5);
    limiter.pause(1_000);
    acquire("late", 1, { maxWaitMs: 1_000 });
    limiter.pause(5_000);
    await clock.advance(2_000);
    expect(trace.events).toEqual(["late failed t1000"]);
  });
});

describe("resume", () => {
  test("ends a pause now, at the rate", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 5);
    limiter.pause(10_000);
    for (const label of labels("a", 3)) acquire(label);
    await clock.advance(500);
    limiter.resume();
    expect(limiter.stats().pausedForMs).toBe(0);
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a1 t500", "a2 t600", "a3 t700"]);
  });

  test("does nothing when no pause holds", () => {
    const { limiter } = setUp(10, 5);
    limiter.resume();
    expect(limiter.stats().available).toBe(5);
  });

  test("after it a new pause counts from its own start", async () => {
    const { clock, limiter } = setUp(10, 5);
    limiter.pause(10_000);
    limiter.resume();
    limiter.pause(100);
    expect(limiter.stats().pausedForMs).toBe(100);
    await clock.advance(100);
    expect(limiter.tryAcquire()).toBe(true);
  });
});
