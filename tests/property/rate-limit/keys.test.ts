import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { KeyedRateLimiter, RateLimiter } from "../../../src/rate-limit/index.js";
import { ManualClock } from "../../../src/testing/index.js";

// Dropping a key changes nothing: a keyed limiter that drops whatever it can, before every step, gives the same answers
// at the same times as limiters that live for ever.

const KEYS = 3;
const RATE = { maxRowsPerSecond: 2, burstWindowSecs: 2 };

const step = fc.record({
  key: fc.nat({ max: KEYS - 1 }),
  /** Which of the handles fetched so far is used; mostly one that is old. */
  handle: fc.nat({ max: 20 }),
  act: fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("acquire" as const), n: fc.nat({ max: 6 }) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("tryAcquire" as const), n: fc.nat({ max: 5 }) }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant("advance" as const), n: fc.nat({ max: 5_000 }) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("refund" as const), n: fc.nat({ max: 5 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("charge" as const), n: fc.nat({ max: 5 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("pause" as const), n: fc.nat({ max: 3_000 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("resume" as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("setRate" as const), n: fc.nat({ max: 4 }) }) },
  ),
});
type Act = typeof step extends fc.Arbitrary<{ act: infer A }> ? A : never;

function apply(limiter: RateLimiter, act: Act, grants: string[], label: string, clock: ManualClock): unknown {
  switch (act.do) {
    case "acquire":
      void limiter.acquire(act.n).then(() => grants.push(`${label} t${String(clock.now())}`));
      return undefined;
    case "tryAcquire":
      return limiter.tryAcquire(act.n);
    case "refund":
    case "charge":
    case "pause":
      limiter[act.do](act.n);
      return undefined;
    case "resume":
      limiter.resume();
      return undefined;
    case "setRate":
      // Often the rate that all keys have, so that a key can go again.
      limiter.setRate({ maxRowsPerSecond: act.n === 0 ? 5 : RATE.maxRowsPerSecond });
      return undefined;
    case "advance":
      return undefined;
  }
}

function standing(limiter: RateLimiter): unknown {
  const { available, capacity, queued, queuedTokens, pausedForMs } = limiter.stats();
  return { available, capacity, queued, queuedTokens, pausedForMs, wait: limiter.estimateWaitMs(2) };
}

test("a keyed limiter does what limiters that live for ever do", async () => {
  let dropped = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
      const clock = new ManualClock();
      const keyed = new KeyedRateLimiter<number>({ ...RATE, clock });
      const lasting = Array.from({ length: KEYS }, () => new RateLimiter({ ...RATE, clock }));
      const handles: RateLimiter[][] = lasting.map(() => []);
      const [grants, lastingGrants]: [string[], string[]] = [[], []];
      for (const [index, { key, handle, act }] of steps.entries()) {
        const held = handles[key] as RateLimiter[];
        const limiter = held[handle] ?? keyed.for(key);
        if (!held.includes(limiter)) held.push(limiter);
        const reference = lasting[key] as RateLimiter;
        const before = keyed.size;
        if (act.do === "advance") await clock.advance(act.n);
        const label = `${String(index)} of ${String(key)}`;
        expect(apply(limiter, act, grants, label, clock)).toBe(
          apply(reference, act, lastingGrants, label, clock),
        );
        expect(standing(limiter)).toEqual(standing(reference));
        dropped += Math.max(0, before - keyed.size);
      }
      await clock.advance(600_000);
      // Of two keys that are due at one moment either may be first.
      expect(grants.sort()).toEqual(lastingGrants.sort());
      expect(clock.pending).toBe(0);
    }),
    { numRuns: 200 },
  );
  expect(dropped).toBeGreaterThan(100);
}, 60_000);
