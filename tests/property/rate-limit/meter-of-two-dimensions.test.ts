import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { WaitTooLongError } from "../../../src/rate-limit/errors.js";
import { WaitingLine } from "../../../src/rate-limit/line/waiting-line.js";
import { BadClock, settlePromises } from "../../support/rate-limit-clocks.js";
import { shapeOf } from "../../support/rate-limit-exact-bucket.js";
import {
  exactPairPlaces,
  type PairCall,
  type PairCost,
  PairMeter,
  type PairShape,
} from "../../support/rate-limit-pair-meter.js";
import { EXACT_MS } from "../../support/rate-limit-rig.js";
import { anyMisses, slightlyLate } from "../../support/rate-limit-steps.js";
import { Trace } from "../../support/rate-limit-trace.js";

const shape: fc.Arbitrary<PairShape> = fc.record({
  requests: fc.tuple(fc.constantFrom(3, 10, 1000), fc.constantFrom(0, 1)).map(([r, s]) => shapeOf(r, s)),
  tokens: fc
    .tuple(fc.constantFrom(70, 1000, 333.3), fc.constantFrom(0, 0.1, 1))
    .map(([r, s]) => shapeOf(r, s)),
});

const call: fc.Arbitrary<PairCall> = fc.record({
  gapMs: fc.constantFrom(0, 0, 0, 1, 30, 500),
  requests: fc.constantFrom(1, 1, 1, 0, 2),
  tokens: fc.constantFrom(0, 1, 5, 20, 100, 500),
});

const calls = fc.array(call, { minLength: 1, maxLength: 30, size: "max" });
const ON_TIME = { lateMs: [0] };

/** What a call has come to: the time of its grant, or its error and when it came. */
type End = { readonly at: number; readonly error?: unknown };

class Budget {
  readonly clock: BadClock;
  readonly meter: PairMeter;
  readonly line: WaitingLine<PairCost>;
  readonly ends: End[] = [];
  readonly order: number[] = [];

  constructor(pair: PairShape, misses: ConstructorParameters<typeof BadClock>[0]) {
    this.clock = new BadClock(misses);
    this.meter = new PairMeter(pair, 0);
    this.line = new WaitingLine({ name: "pair", clock: this.clock, maxQueue: Infinity, meter: this.meter });
  }

  async call(cost: PairCall, options?: { signal?: AbortSignal; maxWaitMs?: number }): Promise<void> {
    if (cost.gapMs > 0) await this.clock.advance(cost.gapMs);
    const id = this.ends.length;
    this.ends.push({ at: NaN });
    this.line.acquire(cost, options, false).then(
      () => {
        this.ends[id] = { at: this.clock.now() };
        this.order.push(id);
      },
      (error: unknown) => (this.ends[id] = { at: this.clock.now(), error }),
    );
    await settlePromises();
  }
}

describe("a line over two buckets", () => {
  test("on exact timers each call is granted when both buckets have its cost, in order", async () => {
    await fc.assert(
      fc.asyncProperty(shape, calls, async (pair, costs) => {
        const places = exactPairPlaces(pair, costs);
        const budget = new Budget(pair, ON_TIME);
        for (const cost of costs) await budget.call(cost);
        await budget.clock.finish();
        expect(budget.order).toEqual(costs.map((_, id) => id));
        for (const [id, place] of places.entries()) {
          expect(Math.abs((budget.ends[id]?.at ?? NaN) - place)).toBeLessThanOrEqual(EXACT_MS);
        }
      }),
      { numRuns: 150 },
    );
  });

  test("no dimension grants more than its bound, and never half a cost", async () => {
    await fc.assert(
      fc.asyncProperty(
        shape,
        fc.oneof(fc.constant(ON_TIME), anyMisses),
        calls,
        async (pair, misses, costs) => {
          const budget = new Budget(pair, misses);
          for (const cost of costs) await budget.call(cost);
          await budget.clock.finish();
          for (const dimension of ["requests", "tokens"] as const) {
            const trace = new Trace(pair[dimension], 0);
            for (const [id, end] of budget.ends.entries()) trace.grant(end.at, costs[id]?.[dimension] ?? NaN);
            trace.checkBound(misses === ON_TIME ? 0 : 5);
            expect(budget.meter[dimension].taken).toBe(costs.reduce((sum, cost) => sum + cost[dimension], 0));
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  test("with timers at most 5 ms late no grant is further behind than the timers were", async () => {
    await fc.assert(
      fc.asyncProperty(shape, slightlyLate, calls, async (pair, misses, costs) => {
        const places = exactPairPlaces(pair, costs);
        const budget = new Budget(pair, misses);
        for (const cost of costs) await budget.call(cost);
        await budget.clock.finish();
        const latest = Math.max(...misses.lateMs);
        for (const [id, place] of places.entries()) {
          expect((budget.ends[id]?.at ?? NaN) - place).toBeLessThanOrEqual(latest + EXACT_MS);
        }
      }),
      { numRuns: 100 },
    );
  });

  test("who leaves spends nothing in either dimension, and those behind move up at once", async () => {
    const someLeave = fc.array(fc.tuple(call, fc.boolean()), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(
        shape,
        anyMisses,
        someLeave,
        fc.nat({ max: 3000 }),
        async (pair, misses, costs, waitMs) => {
          const budget = new Budget(pair, misses);
          const controller = new AbortController();
          for (const [cost, leaves] of costs) {
            await budget.call({ ...cost, gapMs: 0 }, leaves ? { signal: controller.signal } : undefined);
          }
          await budget.clock.advance(waitMs);
          controller.abort("gone");
          await settlePromises();
          const head = budget.ends.findIndex(({ at }) => Number.isNaN(at));
          const next = costs[head]?.[0];
          // When somebody left, the line has looked: then nobody is in it who could go.
          if (next !== undefined && budget.ends.some(({ error }) => error !== undefined)) {
            expect(budget.meter.headWaitMs(next, budget.clock.now())).toBeGreaterThan(0);
          }
          await budget.clock.finish();
          const granted = costs.filter((_, id) => budget.ends[id]?.error === undefined);
          for (const [id, end] of budget.ends.entries()) {
            if (end.error !== undefined) expect([costs[id]?.[1], end.error]).toEqual([true, "gone"]);
          }
          for (const dimension of ["requests", "tokens"] as const) {
            const sum = granted.reduce((total, [cost]) => total + cost[dimension], 0);
            expect(budget.meter[dimension].taken).toBe(sum);
            expect(budget.meter[dimension].queued).toBe(0);
          }
          expect(budget.order).toEqual([...budget.order].sort((a, b) => a - b));
        },
      ),
      { numRuns: 100 },
    );
  });

  test("a deadline refuses only what could not have made it, and lets go at its time", async () => {
    const limited = fc.array(fc.tuple(call, fc.nat({ max: 1500 })), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(shape, limited, async (pair, costs) => {
        const budget = new Budget(pair, ON_TIME);
        const calledAt: number[] = [];
        for (const [cost, maxWaitMs] of costs) {
          await budget.call(cost, { maxWaitMs });
          calledAt.push(budget.clock.now());
        }
        await budget.clock.finish();
        for (const [id, [, maxWaitMs]] of costs.entries()) {
          const { at, error } = budget.ends[id] ?? { at: NaN };
          const waited = at - (calledAt[id] ?? NaN);
          if (error === undefined) expect(waited).toBeLessThanOrEqual(maxWaitMs + EXACT_MS);
          else {
            expect(error).toBeInstanceOf(WaitTooLongError);
            expect((error as WaitTooLongError).estimatedWaitMs).toBeGreaterThanOrEqual(maxWaitMs - EXACT_MS);
            if (waited > 0) expect(Math.abs(waited - maxWaitMs)).toBeLessThanOrEqual(EXACT_MS);
          }
        }
        expect(budget.clock.mostPending).toBeLessThanOrEqual(1);
        expect(budget.clock.pending).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});
