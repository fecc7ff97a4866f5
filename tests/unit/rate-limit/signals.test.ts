import { describe, expect, jest, test } from "@jest/globals";
import { labels, setUp } from "./support/set-up.js";

// Some of these are much work for a machine that is busy.
jest.setTimeout(30_000);

/** Counts the listeners that are on a signal. */
function listenersOn(signal: AbortSignal): { now: number; added: number; removed: number } {
  const count = { now: 0, added: 0, removed: 0 };
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  jest.spyOn(signal, "addEventListener").mockImplementation((...[type, listener]) => {
    count.added += 1;
    count.now += 1;
    add(type, listener);
  });
  jest.spyOn(signal, "removeEventListener").mockImplementation((...[type, listener]) => {
    count.removed += 1;
    count.now -= 1;
    remove(type, listener);
  });
  return count;
}

describe("a signal", () => {
  test("takes its caller out of the line with its own reason, spending nothing", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    const leave = new AbortController();
    acquire("first");
    acquire("a", 1, { signal: leave.signal });
    acquire("b");
    await clock.advance(400);
    const reason = { any: "thing" };
    leave.abort(reason);
    expect(limiter.stats()).toMatchObject({ queued: 1, queuedTokens: 1, aborted: 1 });
    await clock.advance(5_000);
    expect(trace.events).toEqual(["first t0", "a failed t400", "b t1000"]);
    expect(trace.reasonOf("a")).toBe(reason);
  });

  test("that aborts without a reason gives its AbortError", async () => {
    const { limiter } = setUp(1, 1);
    await limiter.acquire();
    const leave = new AbortController();
    const call = limiter.acquire(1, { signal: leave.signal });
    leave.abort();
    await expect(call).rejects.toBe(leave.signal.reason);
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
  });

  test("lets those behind its caller move up in the same turn", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 10);
    await limiter.acquire(10);
    const leave = new AbortController();
    acquire("large", 10, { signal: leave.signal });
    for (const label of labels("s", 3)) acquire(label);
    await clock.advance(250);
    leave.abort();
    expect(limiter.stats()).toMatchObject({ queued: 1, granted: 3 });
    await clock.advance(100);
    expect(trace.events).toEqual(["s1 t250", "s2 t250", "large failed t250", "s3 t300"]);
  });

  test("may take out callers anywhere in the line", async () => {
    const { clock, trace, acquire } = setUp(1, 1);
    const leave = new AbortController();
    acquire("first");
    for (const [index, label] of labels("a", 6).entries()) {
      acquire(label, 1, index % 2 === 0 ? { signal: leave.signal } : {});
    }
    await clock.advance(1_500);
    leave.abort();
    await clock.advance(5_000);
    expect(trace.events).toEqual([
      ...["first t0", "a1 t1000", "a3 failed t1500", "a5 failed t1500"],
      ...["a2 t2000", "a4 t3000", "a6 t4000"],
    ]);
  });

  test("has nothing to say to a caller that was granted", async () => {
    const { limiter } = setUp(1, 1);
    const leave = new AbortController();
    const call = limiter.acquire(1, { signal: leave.signal });
    leave.abort();
    await call;
    expect(limiter.stats()).toMatchObject({ granted: 1, aborted: 0 });
  });

  test("of one limiter's callers, and its time limits, are independent", async () => {
    const { clock, trace, acquire, limiter } = setUp(1, 1);
    const [one, other] = [new AbortController(), new AbortController()];
    await limiter.acquire();
    acquire("one", 1, { signal: one.signal, maxWaitMs: 60_000 });
    acquire("other", 1, { signal: other.signal });
    one.abort();
    await clock.advance(60_000);
    other.abort();
    expect(trace.events).toEqual(["one failed t0", "other t1000"]);
  });
});

describe("the listeners on a signal", () => {
  test("are one for 1,000 waiters, and none when the last has been granted", async () => {
    const { clock, limiter } = setUp(1_000, 1);
    const leave = new AbortController();
    const listeners = listenersOn(leave.signal);
    await limiter.acquire(1, { signal: leave.signal });
    expect(listeners.added).toBe(0);
    const calls = Array.from({ length: 1_000 }, () => limiter.acquire(1, { signal: leave.signal }));
    expect(listeners).toEqual({ now: 1, added: 1, removed: 0 });
    await clock.advance(999);
    expect(limiter.stats().queued).toBe(1);
    expect(listeners.now).toBe(1);
    await clock.advance(1);
    await Promise.all(calls);
    expect(listeners).toEqual({ now: 0, added: 1, removed: 1 });
  });

  test("are gone when the last waiter leaves by its deadline, or the limiter is closed", async () => {
    const { clock, limiter, acquire } = setUp(1, 1);
    const leave = new AbortController();
    const listeners = listenersOn(leave.signal);
    await limiter.acquire();
    acquire("a", 1, { signal: leave.signal, maxWaitMs: 2_000 });
    limiter.charge(5);
    await clock.advance(2_000);
    expect(listeners).toEqual({ now: 0, added: 1, removed: 1 });
    acquire("b", 1, { signal: leave.signal });
    limiter.close();
    expect(listeners).toEqual({ now: 0, added: 2, removed: 2 });
  });

  test("are one for each limiter, and each signal", async () => {
    const [a, b] = [setUp(1, 1), setUp(1, 1)];
    const signals = [new AbortController(), new AbortController()].map(({ signal }) => signal);
    const listeners = signals.map(listenersOn);
    for (const { limiter } of [a, b]) {
      await limiter.acquire();
      for (const signal of [...signals, ...signals]) void limiter.acquire(1, { signal });
    }
    expect(listeners.map(({ now }) => now)).toEqual([2, 2]);
    await Promise.all([a.clock.advance(4_000), b.clock.advance(4_000)]);
    expect(listeners.map(({ now }) => now)).toEqual([0, 0]);
  });

  test("20,000 waiters on one signal leave in one go", async () => {
    const { limiter } = setUp(1, 1);
    const leave = new AbortController();
    const calls = Array.from({ length: 20_000 }, () => limiter.acquire(1, { signal: leave.signal }));
    const start = process.cpuUsage();
    leave.abort("all");
    // A listener each, or a search through the line each, would take far longer.
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(1_000);
    const results = await Promise.allSettled(calls);
    expect(results.filter((result) => result.status === "rejected" && result.reason === "all")).toHaveLength(
      19_999,
    );
    expect(limiter.stats()).toMatchObject({ queued: 0, aborted: 19_999 });
  });

  test("a listener that was added before ours, and moves the line, grants nobody whom the signal has ended", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    const leave = new AbortController();
    await limiter.acquire();
    leave.signal.addEventListener("abort", () => {
      limiter.refund(1);
    });
    acquire("ended", 1, { signal: leave.signal });
    acquire("next");
    leave.abort();
    await clock.advance(0);
    expect([...trace.events].sort()).toEqual(["ended failed t0", "next t0"]);
  });
});
