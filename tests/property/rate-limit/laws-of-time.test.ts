import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { RateLimiter } from "../../../src/rate-limit/index.js";
import { BadClock, settlePromises } from "../../support/rate-limit-clocks.js";
import { type Arrival, exactPlaces } from "../../support/rate-limit-exact-places.js";
import { EXACT_MS } from "../../support/rate-limit-compare.js";
import { Rig } from "../../support/rate-limit-rig.js";
import { anyMisses, plan, setting, tooEarly } from "../../support/rate-limit-steps.js";

const LONGEST_DELAY_MS = 2 ** 31 - 1;

describe("law 9: one timer", () => {
  const steps = plan({
    acquire: 10,
    advance: 6,
    tryAcquire: 1,
    abort: 2,
    endScope: 1,
    pause: 1,
    resume: 1,
    setRate: 1,
    refund: 1,
    charge: 2,
    close: 1,
  });

  test("at most one timer, none while nobody waits, and always one while somebody does", async () => {
    await fc.assert(
      fc.asyncProperty(setting, anyMisses, steps, async (start, misses, plan) => {
        const timers = new BadClock(misses);
        const rig = new Rig(start, timers);
        for (const step of plan) {
          await rig.play([step]);
          expect(timers.pending).toBe(rig.limiter.stats().queued > 0 ? 1 : 0);
        }
        await rig.finish();
        expect(timers.pending).toBe(0);
        expect(timers.mostPending).toBeLessThanOrEqual(1);
        expect(timers.longestDelayMs).toBeLessThanOrEqual(LONGEST_DELAY_MS);
      }),
      { numRuns: 200 },
    );
  });

  test("waits of months are cut into delays that timers take, and end at their time", async () => {
    const slow = fc.constantFrom(1 / 86_400, 1e-6, 0.001);
    await fc.assert(
      fc.asyncProperty(
        slow,
        fc.integer({ min: 1, max: 100 }),
        fc.nat({ max: 5 }),
        async (perSecond, n, days) => {
          const timers = new BadClock({ lateMs: [0] });
          const limiter = new RateLimiter({ maxRowsPerSecond: perSecond, initialTokens: 0, clock: timers });
          await timers.advance(days * 86_400_000);
          const had = limiter.stats().available;
          let grantedAt = NaN;
          void limiter.acquire(n).then(() => (grantedAt = timers.now()));
          const calledAt = timers.now();
          await settlePromises();
          await timers.finish();
          const place = calledAt + (Math.max(0, n - had) * 1000) / perSecond;
          expect(Math.abs(grantedAt - place)).toBeLessThanOrEqual(EXACT_MS + place * 8 * Number.EPSILON);
          expect(timers.longestDelayMs).toBeLessThanOrEqual(LONGEST_DELAY_MS);
          expect(timers.mostPending).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("an early timer is armed again for the rest, not for nothing over and over", async () => {
    await fc.assert(
      fc.asyncProperty(setting, tooEarly, fc.integer({ min: 1, max: 20 }), async (start, misses, calls) => {
        const timers = new BadClock(misses);
        const rig = new Rig({ ...start, filled: 0, maxQueue: Infinity }, timers);
        let fired = 0;
        const { onFire } = timers;
        timers.onFire = () => {
          fired += 1;
          onFire();
        };
        for (let count = 0; count < calls; count += 1) rig.acquire(1);
        await settlePromises();
        await rig.finish();
        // A tenth of what is left passes at least each time, so a dozen rounds for each factor of ten.
        expect(fired).toBeLessThanOrEqual(calls * 400);
      }),
      { numRuns: 40 },
    );
  });
});

describe("law 10: monotonic time", () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  const arrivals: fc.Arbitrary<Arrival[]> = fc.array(
    fc.record({ gapMs: fc.constantFrom(0, 0, 1, 40), n: fc.integer({ min: 1, max: 3 }) }),
    { minLength: 1, maxLength: 15 },
  );
  const hours = fc.integer({ min: -5, max: 5 });

  test("timers faked after the import are obeyed, and the wall clock may jump as it likes", async () => {
    await fc.assert(
      fc.asyncProperty(setting, arrivals, fc.array(hours, { minLength: 1 }), async (start, calls, jumps) => {
        const places = exactPlaces({ ...start, filled: 1 }, calls);
        const limiter = new RateLimiter({ maxRowsPerSecond: start.rate, burstWindowSecs: start.burst });
        const begin = performance.now();
        const times: number[] = [];
        for (const [index, { gapMs, n }] of calls.entries()) {
          await jest.advanceTimersByTimeAsync(gapMs);
          void limiter.acquire(n).then(() => (times[index] = performance.now() - begin));
          jest.setSystemTime(Date.now() + (jumps[index % jumps.length] ?? 0) * 3_600_000);
          await settlePromises();
        }
        await jest.advanceTimersByTimeAsync(Math.ceil(Math.max(...places)) + 2);
        for (const [index, place] of places.entries()) {
          expect((times[index] ?? NaN) - place).toBeGreaterThanOrEqual(-EXACT_MS);
          // These timers take whole milliseconds.
          expect((times[index] ?? NaN) - place).toBeLessThanOrEqual(1 + EXACT_MS);
        }
        expect(jest.getTimerCount()).toBe(0);
      }),
      { numRuns: 30 },
    );
  });
});
