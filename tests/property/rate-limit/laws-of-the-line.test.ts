import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Scope } from "../../../src/cancellation/index.js";
import { LimiterClosedError, RateLimiter, WaitTooLongError } from "../../../src/rate-limit/index.js";
import { inScope } from "../../support/ambient.js";
import { BadClock, clockOf, ExactClock, settlePromises } from "../../support/rate-limit-clocks.js";
import { EXACT_MS } from "../../support/rate-limit-compare.js";
import { Rig } from "../../support/rate-limit-rig.js";
import { anyMisses, anyOrNoMisses, plan, rate, setting, type Step } from "../../support/rate-limit-steps.js";

const isAscending = (ids: readonly number[]): boolean =>
  ids.every((id, index) => id > (ids[index - 1] ?? -1));

describe("law 4: first in, first out", () => {
  const steps = plan({
    acquire: 12,
    tryAcquire: 6,
    advance: 8,
    abort: 2,
    endScope: 1,
    refund: 2,
    setRate: 1,
    pause: 1,
    resume: 1,
  });

  test("nobody overtakes, on whatever path tokens come, and tryAcquire fails while anyone waits", async () => {
    await fc.assert(
      fc.asyncProperty(setting, anyOrNoMisses, steps, async (start, misses, plan) => {
        const rig = new Rig(start, clockOf(misses));
        for (const step of plan) {
          const { queued, granted } = rig.limiter.stats();
          await rig.play([step]);
          if (step.do === "tryAcquire" && queued > 0) expect(rig.limiter.stats().granted).toBe(granted);
        }
        await rig.finish();
        expect(isAscending(rig.takers)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test("small calls do not pass a large one that came first", async () => {
    await fc.assert(
      fc.asyncProperty(
        setting,
        fc.integer({ min: 2, max: 50 }),
        fc.nat({ max: 8 }),
        async (start, large, small) => {
          const rig = new Rig({ ...start, filled: 0, maxQueue: Infinity });
          rig.acquire(large);
          await rig.advance({ fromNext: -3e-6 });
          // Tokens enough for each of these are there by now.
          for (let count = 0; count < small; count += 1) rig.acquire(1);
          await rig.play([]);
          expect(rig.order).toEqual([]);
          await rig.finish();
          expect(rig.order).toEqual(Array.from({ length: 1 + small }, (_, id) => id));
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("law 5: more than the bucket, and nothing at all", () => {
  const steps = plan({ acquire: 10, advance: 8, abort: 4, endScope: 3, refund: 2, charge: 1, setRate: 1 });

  test("a call above the capacity is served, and what it leaves is at most what the next may hold", async () => {
    await fc.assert(
      fc.asyncProperty(setting, steps, async (start, plan) => {
        const rig = new Rig(start);
        for (const step of plan) {
          await rig.play([step]);
          const { available, capacity, pausedForMs } = rig.limiter.stats();
          const most = Math.max(capacity, rig.model.head?.[0] ?? 0);
          if (pausedForMs === 0) expect(available).toBeLessThanOrEqual(most * (1 + 1e-12));
        }
        await rig.finish();
      }),
      { numRuns: 200 },
    );
  });

  test("a call for very much costs as many timers as its wait is long, and no more", async () => {
    await fc.assert(
      fc.asyncProperty(rate, fc.integer({ min: 1, max: 1e9 }), async (perSecond, n) => {
        const timers = new BadClock({ lateMs: [0] });
        const limiter = new RateLimiter({ maxRowsPerSecond: perSecond, clock: timers, initialTokens: 0 });
        let fired = 0;
        timers.onFire = () => (fired += 1);
        const done = limiter.acquire(n);
        await timers.finish();
        await done;
        expect(fired).toBeLessThanOrEqual(3 + timers.now() / (2 ** 31 - 1));
      }),
      { numRuns: 40 },
    );
  });

  test("tryAcquire of more than the capacity is false, also by a hair", () => {
    const capacity = fc.tuple(fc.integer({ min: 1, max: 1000 }), fc.constantFrom(0, 1e-4, 1e-3, 1e-7, 0.5));
    fc.assert(
      fc.property(
        capacity,
        fc.constantFrom(1, 1000, 1e6, 5e6),
        fc.integer({ min: 0, max: 2 }),
        ([whole, less], r, over) => {
          const limiter = new RateLimiter({
            maxRowsPerSecond: r,
            burstWindowSecs: (whole - less) / r,
            clock: new ExactClock(),
          });
          const n = whole + over;
          // Times of doubles: 0.29 * 100 is less than 29 by a few of its last bits.
          expect(limiter.tryAcquire(n)).toBe(n <= limiter.stats().capacity * (1 + 1e-12));
        },
      ),
      { numRuns: 300 },
    );
  });

  test("n = 0 is granted in every state of an open limiter and spends nothing", async () => {
    await fc.assert(
      fc.asyncProperty(setting, steps, async (start, plan) => {
        const rig = new Rig(start);
        await rig.play(plan);
        const before = rig.limiter.stats();
        const id = rig.acquire(0);
        expect(rig.limiter.tryAcquire(0)).toBe(true);
        expect(rig.limiter.estimateWaitMs(0)).toBe(0);
        await settlePromises();
        expect(rig.settled.get(id)?.fate).toBe("granted");
        expect(rig.limiter.stats()).toEqual(before);
      }),
      { numRuns: 40 },
    );
  });
});

describe("law 6: cancel", () => {
  const steps = plan({ acquire: 12, advance: 6, abort: 5, endScope: 5, pause: 1, setRate: 1 });

  test("who leaves spends nothing, and those behind move up at once", async () => {
    await fc.assert(
      fc.asyncProperty(setting, anyOrNoMisses, steps, async (start, misses, plan) => {
        const rig = new Rig(start, clockOf(misses));
        await rig.play(plan);
        await rig.finish();
      }),
      { numRuns: 250 },
    );
  });

  test("after an abort the others are served as if those who left had never called", async () => {
    const backlog = fc.array(fc.record({ n: fc.integer({ min: 1, max: 4 }), leaves: fc.boolean() }), {
      minLength: 1,
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(rate, backlog, fc.nat({ max: 30 }), async (perSecond, calls, turn) => {
        // A capacity of 4 or more: only then can a head leave without tokens that the next may not hold.
        const start = { rate: perSecond, burst: 4 / perSecond, filled: 0, maxQueue: Infinity };
        const rig = new Rig(start);
        for (const { n, leaves } of calls) rig.acquire(n, leaves ? { signal: 1 } : {});
        for (let count = 0; count < turn; count += 1) await rig.advance({ fromNext: 1e-3 });
        const abortedAt = rig.clock.now();
        rig.abort(1);
        await settlePromises();
        await rig.finish();
        let sum = 0;
        let blocked = false;
        for (const [id, { n }] of calls.entries()) {
          const settled = rig.settled.get(id);
          if (settled?.fate !== "granted") {
            blocked = true;
            continue;
          }
          sum += n;
          const place = (sum * 1000) / perSecond;
          const expected = blocked ? Math.max(place, abortedAt) : place;
          expect(Math.abs(settled.at - expected)).toBeLessThanOrEqual(EXACT_MS);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("one listener per signal however many wait, and none once nobody does", async () => {
    const followers = fc.array(fc.nat({ max: 2 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(followers, fc.nat({ max: 40 }), async (signals, tokens) => {
        const timers = new ExactClock();
        const limiter = new RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0, clock: timers });
        const sources = [0, 1, 2].map(() => countListeners(new AbortController()));
        for (const signal of signals) {
          void limiter.acquire(1, { signal: sources[signal]?.signal }).catch(() => undefined);
        }
        for (const [index, source] of sources.entries()) {
          expect(source.listeners()).toBe(signals.includes(index) ? 1 : 0);
        }
        await timers.advance(tokens * 1000);
        limiter.close();
        for (const source of sources) expect(source.listeners()).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  test("100,000 callers on one signal leave in linear time", async () => {
    const limiter = new RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0, clock: new ExactClock() });
    const controller = new AbortController();
    for (let count = 0; count < 100_000; count += 1) {
      void limiter.acquire(1, { signal: controller.signal }).catch(() => undefined);
    }
    controller.abort();
    await limiter.onIdle();
    expect(limiter.stats()).toMatchObject({ queued: 0, queuedTokens: 0, aborted: 100_000 });
  });

  test("a call whose signal is aborted is not granted by a listener that is told before the line", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }), async (follows) => {
        const limiter = new RateLimiter({ maxRowsPerSecond: 10, initialTokens: 0, clock: new ExactClock() });
        const controller = new AbortController();
        controller.signal.addEventListener("abort", () => {
          limiter.refund(10);
        });
        const calls = follows.map((follow) =>
          limiter.acquire(1, follow ? { signal: controller.signal } : undefined),
        );
        controller.abort("gone");
        const results = await Promise.allSettled(calls);
        expect(results.map(({ status }) => status === "rejected")).toEqual(follows);
        expect(limiter.stats().available).toBe(10 - follows.filter((follow) => !follow).length);
      }),
      { numRuns: 20 },
    );
  });

  // The end of the outer scope moves the line while the inner one has not been told yet.
  test("a call in a scope inside the one that ends is not granted on the way", async () => {
    const limiter = new RateLimiter({
      maxRowsPerSecond: 1,
      initialTokens: 0,
      burstWindowSecs: 3,
      clock: new ExactClock(),
    });
    const outer = new Scope();
    const inner = new Scope(outer);
    const first = acquireIn(limiter, outer, 3);
    limiter.refund(2);
    const second = acquireIn(limiter, inner, 1);
    outer.release("gone");
    const results = await Promise.allSettled([first, second]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });
});

describe("law 7: maxWaitMs", () => {
  const steps = plan({
    acquire: 12,
    advance: 8,
    pause: 2,
    resume: 1,
    setRate: 2,
    charge: 2,
    refund: 1,
    abort: 1,
  });
  const withLimit = (step: Step): Step =>
    step.do === "acquire" ? { ...step, maxWait: step.maxWait ?? { fromNext: 3e-6 } } : step;

  test("a wait known to be too long fails at once, one that grows ends at its deadline", async () => {
    await fc.assert(
      fc.asyncProperty(setting, steps, async (start, plan) => {
        const rig = new Rig(start);
        await rig.play(plan.map(withLimit));
        await rig.finish();
      }),
      { numRuns: 200 },
    );
  });

  test("on bad timers nobody is granted more than 5 ms after the deadline, and nobody expires before it", async () => {
    const limits = fc.array(
      fc.record({ maxWaitMs: fc.integer({ min: 0, max: 3000 }), gapMs: fc.nat({ max: 20 }) }),
      { minLength: 1, maxLength: 20 },
    );
    await fc.assert(
      fc.asyncProperty(
        setting,
        anyMisses,
        limits,
        fc.nat({ max: 50 }),
        async (start, misses, calls, charged) => {
          const timers = new BadClock(misses);
          const limiter = new RateLimiter({
            maxRowsPerSecond: start.rate,
            burstWindowSecs: start.burst,
            clock: timers,
          });
          const ends: Promise<void>[] = [];
          for (const { maxWaitMs, gapMs } of calls) {
            await timers.advance(gapMs);
            const calledAt = timers.now();
            const estimate = limiter.estimateWaitMs(2);
            const end = limiter.acquire(2, { maxWaitMs }).then(
              () => {
                expect(timers.now() - calledAt).toBeLessThanOrEqual(maxWaitMs + 5 + EXACT_MS);
              },
              (error: unknown) => {
                const waited = timers.now() - calledAt;
                expect(error).toBeInstanceOf(WaitTooLongError);
                if (estimate > maxWaitMs + EXACT_MS) {
                  expect(waited).toBe(0);
                  expect((error as WaitTooLongError).estimatedWaitMs).toBe(estimate);
                } else expect(waited).toBeGreaterThanOrEqual(maxWaitMs);
              },
            );
            ends.push(end);
            await settlePromises();
          }
          limiter.charge(charged);
          await timers.finish();
          await Promise.all(ends);
        },
      ),
      { numRuns: 80 },
    );
  });
});

describe("law 8: every promise settles once, in the context of its caller", () => {
  test("what follows a call runs in the caller's async context, whoever else moved the line", async () => {
    const storage = new AsyncLocalStorage<number>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 20 }),
        async (sizes) => {
          const timers = new ExactClock();
          const limiter = new RateLimiter({ maxRowsPerSecond: 2, clock: timers });
          const controller = new AbortController();
          const seen: (number | undefined)[] = [];
          const calls = sizes.map((n, id) =>
            storage.run(id, async () => {
              await limiter
                .acquire(n, id % 3 === 0 ? { signal: controller.signal } : undefined)
                .catch(() => undefined);
              seen[id] = storage.getStore();
            }),
          );
          await storage.run(-1, () => timers.advance(1000));
          storage.run(-2, () => {
            controller.abort();
          });
          storage.run(-3, () => {
            limiter.refund(3);
          });
          await storage.run(-4, () => timers.advance(1e5));
          await Promise.all(calls);
          expect(seen).toEqual(sizes.map((_, id) => id));
        },
      ),
      { numRuns: 30 },
    );
  });

  test("rejections in bulk are handled, and awaiting them still rejects", async () => {
    const ways = fc.constantFrom("close", "signal", "scope");
    await fc.assert(
      fc.asyncProperty(ways, fc.integer({ min: 1, max: 10 }), async (way, callers) => {
        const limiter = new RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0, clock: new ExactClock() });
        const controller = new AbortController();
        const scope = new Scope();
        const calls = Array.from({ length: callers }, () =>
          acquireIn(limiter, way === "scope" ? scope : undefined, 1, controller.signal),
        );
        if (way === "close") limiter.close("gone");
        else if (way === "signal") controller.abort("gone");
        else scope.release("gone");
        // An unhandled rejection is found after a turn of the event loop; jest then fails the test.
        await new Promise((resolve) => setImmediate(resolve));
        for (const call of calls) {
          const reason: unknown = await call.then(
            () => undefined,
            (error: unknown) => error,
          );
          expect(reason instanceof LimiterClosedError ? reason.cause : reason).toBe("gone");
        }
      }),
      { numRuns: 30 },
    );
  });

  test("after close every call has settled and none is granted any more", async () => {
    const steps = plan({ acquire: 10, advance: 4, pause: 1, charge: 1, close: 2 });
    await fc.assert(
      fc.asyncProperty(setting, anyOrNoMisses, steps, async (start, misses, plan) => {
        const rig = new Rig(start, clockOf(misses));
        await rig.play([...plan, { do: "close" }]);
        const settled = rig.settled.size;
        expect(rig.clock.pending).toBe(0);
        await rig.play([
          { do: "advance", time: { ms: 1e5 } },
          { do: "refund", tokens: [{ count: 5 }] },
        ]);
        expect(rig.settled.size).toBe(settled);
      }),
      { numRuns: 50 },
    );
  });
});

/** Calls in `scope`, as code inside a run or a fan-out does. */
function acquireIn(
  limiter: RateLimiter,
  scope: Scope | undefined,
  n: number,
  signal?: AbortSignal,
): Promise<void> {
  return inScope(scope, () => limiter.acquire(n, { signal }));
}

function countListeners({ signal }: AbortController): { signal: AbortSignal; listeners: () => number } {
  const listeners = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  Object.assign(signal, {
    addEventListener(...args: Parameters<typeof add>) {
      listeners.add(args[1]);
      add(...args);
    },
    removeEventListener(...args: Parameters<typeof remove>) {
      listeners.delete(args[1]);
      remove(...args);
    },
  });
  return { signal, listeners: () => listeners.size };
}
