import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, jest, test } from "@jest/globals";
import type { RateLimiter } from "../../../src/rate-limit/index.js";
import { labels, setUp } from "./support/set-up.js";

// Some of these are much work for a machine that is busy.
jest.setTimeout(30_000);

// The faults of DESIGN.md, section 9, that concern a limiter in one process, each replayed against ours: the line.

describe("queued work in another caller's AsyncLocalStorage context", () => {
  test("eight callers who wait all see their own store after it", async () => {
    const { clock, limiter } = setUp(10, 1);
    const storage = new AsyncLocalStorage<string>();
    await storage.run("first", () => limiter.acquire());
    const names = labels("caller", 8);
    const seen = Promise.all(
      names.map((name) =>
        storage.run(name, async () => {
          await limiter.acquire();
          return storage.getStore();
        }),
      ),
    );
    await storage.run("who moves the clock", () => clock.advance(800));
    expect(await seen).toEqual(names);
  });

  test("also those who are refused, aborted, or find it closed", async () => {
    const { clock, limiter } = setUp(10, 1);
    const storage = new AsyncLocalStorage<string>();
    const leave = new AbortController();
    await limiter.acquire();
    const failing = (name: string, call: () => Promise<void>): Promise<string | undefined> =>
      storage.run(name, async () => {
        await expect(call()).rejects.toBeDefined();
        return storage.getStore();
      });
    const seen = Promise.all([
      failing("too long", () => limiter.acquire(1, { maxWaitMs: 10 })),
      failing("expires", () => limiter.acquire(1, { maxWaitMs: 110 })),
      failing("aborted", () => limiter.acquire(1, { signal: leave.signal })),
      failing("closed", () => limiter.acquire()),
    ]);
    limiter.charge(5);
    await storage.run("who moves the clock", () => clock.advance(200));
    storage.run("who aborts", () => {
      leave.abort();
    });
    storage.run("who closes", () => {
      limiter.close();
    });
    expect(await seen).toEqual(["too long", "expires", "aborted", "closed"]);
  });
});

describe("an aborted waiter", () => {
  test("does not spend its tokens (M7)", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 2);
    await limiter.acquire(2);
    const leave = new AbortController();
    for (const label of labels("a", 4)) acquire(label, 1, { signal: leave.signal });
    await clock.advance(50);
    leave.abort();
    acquire("next");
    await clock.advance(5_000);
    expect(trace.events).toEqual([...labels("a", 4).map((name) => `${name} failed t50`), "next t1000"]);
  });

  test("does not make the limiter forget what was granted", async () => {
    const { clock, limiter, trace, acquire } = setUp(1.5, 3);
    await limiter.acquire(3);
    const leave = new AbortController();
    for (const label of labels("a", 3)) acquire(label, 1, { signal: leave.signal });
    leave.abort();
    expect(limiter.tryAcquire()).toBe(false);
    for (const label of labels("b", 3)) acquire(label);
    await clock.advance(2_000);
    expect(trace.events.filter((event) => event.startsWith("b"))).toEqual([
      "b1 t666.666667",
      "b2 t1333.333333",
      "b3 t2000",
    ]);
  });
});

describe("a large request that starves", () => {
  test("not when others poll with tryAcquire (M8)", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 10);
    await limiter.acquire(10);
    acquire("large", 10);
    let taken = 0;
    for (let step = 0; step < 50; step += 1) {
      await clock.advance(20);
      if (clock.now() < 1_000 && limiter.tryAcquire()) taken += 1;
    }
    expect(taken).toBe(0);
    expect(trace.events).toEqual(["large t1000"]);
  });

  test("not when loops of small requests go on beside it (M8)", async () => {
    const { clock, limiter, trace, acquire } = setUp(10, 10);
    await limiter.acquire(10);
    let stop = false;
    const loops = labels("loop", 5).map(async () => {
      while (!stop) await limiter.acquire();
    });
    acquire("large", 10);
    await clock.advance(4_000);
    expect(trace.events).toEqual(["large t1500"]);
    stop = true;
    await clock.advance(1_000);
    await Promise.all(loops);
  });
});

describe("one timer per waiter", () => {
  test("20,000 waiters with and without deadline and signal have one", async () => {
    const { clock, limiter } = setUp(1_000, 1);
    const leave = new AbortController();
    for (let call = 0; call < 5_000; call += 1) {
      void limiter.acquire();
      void limiter.acquire(1, { maxWaitMs: 1e6 + call });
      void limiter.acquire(1, { signal: leave.signal });
      void limiter.acquire(1, { maxWaitMs: 1e7 - call, signal: leave.signal });
    }
    expect(limiter.stats().queued).toBe(19_999);
    await clock.advance(20);
    limiter.pause(10);
    limiter.setRate({ maxRowsPerSecond: 2_000 });
    await clock.advance(20);
    leave.abort();
    await clock.advance(20);
    expect(clock.mostPending).toBe(1);
    limiter.setRate({ maxRowsPerSecond: Infinity });
    expect(limiter.stats().queued).toBe(0);
    expect(clock.pending).toBe(0);
  });
});

test("a request above the bucket is served, in its turn", async () => {
  const { clock, limiter, trace, acquire } = setUp(10, 5);
  acquire("large", 25);
  acquire("next");
  expect(limiter.tryAcquire(6)).toBe(false);
  await clock.advance(5_000);
  expect(trace.events).toEqual(["large t2000", "next t2100"]);
});

test("0.5/s is 0.5/s", async () => {
  const { clock, trace, acquire } = setUp(0.5, 1);
  for (const label of labels("a", 4)) acquire(label);
  await clock.advance(10_000);
  expect(trace.events).toEqual(["a1 t0", "a2 t2000", "a3 t4000", "a4 t6000"]);
});

describe("an idle limiter holds the process", () => {
  test("making one, and taking tokens that are there, sets no timer", async () => {
    const { clock, limiter } = setUp(5, 5);
    await limiter.acquire(4);
    limiter.tryAcquire();
    limiter.tryAcquire();
    limiter.pause(1_000);
    limiter.charge(3);
    expect(clock.delays).toEqual([]);
  });

  test.each<[string, (limiter: RateLimiter, leave: AbortController) => void]>([
    [
      "was granted",
      (limiter) => {
        limiter.refund(1);
      },
    ],
    [
      "was aborted",
      (_limiter, leave) => {
        leave.abort();
      },
    ],
    [
      "found it closed",
      (limiter) => {
        limiter.close();
      },
    ],
  ])("no timer is left when the last waiter %s", async (_how, end) => {
    const { clock, limiter, acquire } = setUp(1, 1);
    const leave = new AbortController();
    await limiter.acquire();
    acquire("last", 1, { signal: leave.signal, maxWaitMs: 1e6 });
    expect(clock.pending).toBe(1);
    end(limiter, leave);
    expect(clock.pending).toBe(0);
    expect(limiter.stats().queued).toBe(0);
  });

  test("nor when its time was over", async () => {
    const { clock, limiter, acquire, trace } = setUp(1, 1);
    await limiter.acquire();
    acquire("last", 1, { maxWaitMs: 1_500 });
    limiter.charge(5);
    await clock.advance(1_500);
    expect(trace.events).toEqual(["last failed t1500"]);
    expect(clock.pending).toBe(0);
  });
});
