import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { RateLimiter } from "../../../src/rate-limit/index.js";
import { TokenBucket } from "../../../src/rate-limit/bucket/token-bucket.js";
import { BadClock, settlePromises } from "../../support/rate-limit-clocks.js";
import { shapeOf } from "../../support/rate-limit-exact-bucket.js";
import { type Arrival, exactPlaces } from "../../support/rate-limit-exact-places.js";
import { Rational } from "../../support/rate-limit-rational.js";
import { EXACT_MS } from "../../support/rate-limit-compare.js";
import { Rig } from "../../support/rate-limit-rig.js";
import { type Setting, tokensIn } from "../../support/rate-limit-settings.js";
import { anyMisses, plan, setting, slightlyLate, stalled, tooEarly } from "../../support/rate-limit-steps.js";

const everything = plan({
  acquire: 12,
  advance: 8,
  tryAcquire: 2,
  abort: 1,
  endScope: 1,
  pause: 1,
  resume: 1,
  setRate: 1,
  refund: 2,
  charge: 1,
});

const arrivals: fc.Arbitrary<Arrival[]> = fc.array(
  fc.record({
    gapMs: fc.constantFrom(0, 0, 0, 0, 0.4, 1, 3.3, 200),
    n: fc.constantFrom(1, 1, 1, 2, 3, 5, 17),
  }),
  { minLength: 1, maxLength: 50, size: "max" },
);

/** Makes these calls and says when each was granted. */
async function grantTimes(clock: BadClock, start: Setting, calls: readonly Arrival[]): Promise<number[]> {
  const limiter = new RateLimiter({
    maxRowsPerSecond: start.rate,
    burstWindowSecs: start.burst,
    initialTokens: tokensIn(start),
    clock,
  });
  const times: number[] = [];
  for (const [index, { gapMs, n }] of calls.entries()) {
    if (gapMs > 0) await clock.advance(gapMs);
    void limiter.acquire(n).then(() => (times[index] = clock.now()));
    await settlePromises();
  }
  await clock.finish();
  return times;
}

describe("law 1: never early", () => {
  const steps = plan({ acquire: 8, advance: 8, charge: 1, refund: 1, setRate: 2, pause: 1, resume: 1 });

  test("on exact timers every grant is at its exact time, whatever happens to the bucket", async () => {
    await fc.assert(
      fc.asyncProperty(setting, steps, async (start, plan) => {
        const rig = new Rig(start);
        await rig.play(plan);
        await rig.finish();
      }),
      { numRuns: 150 },
    );
  });

  test("a timer that fires early is asked for the rest, not trusted", async () => {
    await fc.assert(
      fc.asyncProperty(setting, tooEarly, arrivals, async (start, misses, calls) => {
        const places = exactPlaces(start, calls);
        const times = await grantTimes(new BadClock(misses), start, calls);
        for (const [index, place] of places.entries()) {
          expect(Math.abs((times[index] ?? NaN) - place)).toBeLessThanOrEqual(EXACT_MS);
        }
      }),
      { numRuns: 150 },
    );
  });

  test("on bad timers no grant comes before the exact bucket has its tokens", async () => {
    await fc.assert(
      fc.asyncProperty(setting, anyMisses, everything, async (start, misses, plan) => {
        const rig = new Rig(start, new BadClock(misses));
        await rig.play(plan);
        await rig.finish();
      }),
      { numRuns: 300 },
    );
  });
});

describe("no limit", () => {
  test("an infinite rate never waits, before and after any finite one", async () => {
    const change = fc.option(fc.constantFrom(3, 1000), { nil: Infinity });
    const sizes = fc.array(fc.tuple(change, fc.nat({ max: 1e6 })), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(sizes, async (calls) => {
        const clock = new BadClock({ lateMs: [0] });
        const limiter = new RateLimiter({ maxRowsPerSecond: Infinity, clock });
        for (const [perSecond, n] of calls) {
          limiter.setRate({ maxRowsPerSecond: perSecond });
          limiter.charge(n);
          void limiter.acquire(n);
          limiter.setRate({ maxRowsPerSecond: Infinity });
          await settlePromises();
          expect(limiter.tryAcquire(n)).toBe(true);
          expect(limiter.stats()).toMatchObject({ queued: 0, available: Infinity, capacity: Infinity });
          expect(limiter.estimateWaitMs(n)).toBe(0);
          expect(clock.pending).toBe(0);
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe("law 2: bound", () => {
  test("on exact timers no window holds more than the bucket and what it gained", async () => {
    await fc.assert(
      fc.asyncProperty(setting, everything, async (start, plan) => {
        await new Rig(start).playOut(plan);
      }),
      { numRuns: 150 },
    );
  });

  test("on bad timers no window holds more than 5 ms of the rate on top", async () => {
    await fc.assert(
      fc.asyncProperty(setting, anyMisses, everything, async (start, misses, plan) => {
        await new Rig(start, new BadClock(misses)).playOut(plan);
      }),
      { numRuns: 300 },
    );
  });

  test("a backlog behind a stall catches up 5 ms of the rate and no more", async () => {
    await fc.assert(
      fc.asyncProperty(setting, stalled, arrivals, async (start, misses, calls) => {
        const rig = new Rig(start, new BadClock(misses));
        for (const { n } of calls) rig.acquire(n);
        await settlePromises();
        await rig.finish();
        rig.checkBound();
      }),
      { numRuns: 150 },
    );
  });
});

describe("law 3: no waste", () => {
  test("with timers at most 5 ms late no grant is further behind its place than the timers were", async () => {
    await fc.assert(
      fc.asyncProperty(setting, slightlyLate, arrivals, async (start, misses, calls) => {
        const places = exactPlaces(start, calls);
        const times = await grantTimes(new BadClock(misses), start, calls);
        const latest = Math.max(...misses.lateMs);
        for (const [index, place] of places.entries()) {
          expect((times[index] ?? NaN) - place).toBeLessThanOrEqual(latest + EXACT_MS);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("a million tokens in, a backlog is no further behind than at its start", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(1000, 10_000, 777),
        fc.constantFrom(0, 4),
        slightlyLate,
        async (perSecond, burst, misses) => {
          const start = { rate: perSecond, burst, filled: 0, maxQueue: Infinity };
          const calls = Array.from({ length: 1000 }, (_, index) => ({ gapMs: 0, n: 900 + (index % 201) }));
          const times = await grantTimes(new BadClock(misses), start, calls);
          let sum = 0;
          for (const [index, { n }] of calls.entries()) {
            sum += n;
            const behind = (times[index] ?? NaN) - (sum * 1000) / perSecond;
            expect(behind).toBeGreaterThanOrEqual(-EXACT_MS);
            expect(behind).toBeLessThanOrEqual(Math.max(...misses.lateMs) + EXACT_MS);
          }
        },
      ),
      { numRuns: 6 },
    );
  });

  test("what stands above the capacity is gone when the line empties", async () => {
    await fc.assert(
      fc.asyncProperty(setting, anyMisses, everything, async (start, misses, plan) => {
        const rig = new Rig(start, new BadClock(misses));
        for (const step of plan) {
          await rig.play([step]);
          const { queued, available, capacity } = rig.limiter.stats();
          if (queued === 0) expect(available).toBeLessThanOrEqual(capacity * (1 + 1e-12));
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe("law 11: no drift", () => {
  const TOKENS = 1_000_000;
  const { EPSILON } = Number;

  /**
   * Serves a backlog of a million tokens.
   *
   * @param size - The tokens of each call in turn.
   * @param see - Is told of each grant: the tokens granted so far, and when.
   */
  function serve(
    perSecond: number,
    { lateMs }: { readonly lateMs: readonly number[] },
    size: (k: number) => number,
    see: (tokens: number, now: number) => void,
  ): void {
    const bucket = new TokenBucket(shapeOf(perSecond, 0), 0, 0);
    let now = 0;
    let sum = 0;
    let k = 0;
    let n = size(0);
    bucket.lead(n, now);
    for (let timers = 0; sum < TOKENS; timers += 1) {
      // As the line does: a delay must move the clock, also where the doubles of the time are coarse.
      const leastMs = 2.5e-7 + now * 2 * EPSILON;
      const waitMs = bucket.headWaitMs(n, now);
      now += (waitMs > leastMs ? waitMs : leastMs) + (lateMs[timers % lateMs.length] ?? 0);
      while (bucket.tryTake(n, now)) {
        sum += n;
        see(sum, now);
        k += 1;
        n = size(k);
        bucket.lead(n, now);
      }
    }
  }

  function checkPlace(perSecond: number, latestMs: number, tokens: number, now: number): void {
    const place = Rational.of(tokens * 1000).over(Rational.of(perSecond));
    const behind = Rational.of(now).minus(place).toNumber();
    // After a million days a double tells a hundredth of a millisecond, not a nanosecond.
    const exact = EXACT_MS + now * 8 * EPSILON;
    if (behind >= -exact && behind <= latestMs + exact) return;
    throw new Error(`Token ${String(tokens)} was granted ${String(behind)} ms behind its exact place.`);
  }

  test("the millionth single grant is at its exact place", () => {
    let grants = 0;
    serve(
      3,
      { lateMs: [0, 4.9, 0.3] },
      () => 1,
      (tokens, now) => {
        grants += 1;
        if (grants % 997 === 0 || grants === TOKENS) checkPlace(3, 4.9, tokens, now);
      },
    );
    expect(grants).toBe(TOKENS);
  });

  test.each([3, 0.1, 2.5, 1 / 86_400, 7, 10_000])(
    "at %d/s a million tokens are granted without drift",
    (perSecond) => {
      fc.assert(
        fc.property(slightlyLate, (misses) => {
          serve(
            perSecond,
            misses,
            (k) => 1 + ((k * 97) % 211),
            (tokens, now) => {
              checkPlace(perSecond, Math.max(...misses.lateMs), tokens, now);
            },
          );
        }),
        { numRuns: 4, examples: [[{ lateMs: [0] }], [{ lateMs: [5] }]] },
      );
    },
  );
});
