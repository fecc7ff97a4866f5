import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { RateBudget } from "../../src/rate-limit/index.js";
import { RedisRateBudget } from "../../src/redis/index.js";
import { ManualClock } from "../../src/testing/index.js";
import { FakeRedis } from "../support/redis-fake-store.js";

const RATES = {
  a: { maxRowsPerSecond: 20, burstWindowSecs: 0.25 },
  b: { maxRowsPerSecond: 8, burstWindowSecs: 1 },
};
const NAMES = ["a", "b"] as const;
const CAPACITY = { a: 5, b: 8 };

interface Call {
  readonly process: number;
  readonly atMs: number;
  readonly costs: { readonly a: number; readonly b: number };
  /** Leaves after so many milliseconds; undefined: waits. */
  readonly leavesMs: number | undefined;
}

const CALL = fc.record({
  process: fc.nat(2),
  atMs: fc.nat(3000),
  costs: fc
    .record({ a: fc.oneof(fc.nat(3), fc.nat(12)), b: fc.oneof(fc.nat(2), fc.nat(20)) })
    .filter(({ a, b }) => a + b > 0),
  leavesMs: fc.option(fc.nat(1500), { nil: undefined, freq: 3 }),
});
const CALLS = fc
  .array(CALL, { minLength: 1, maxLength: 40 })
  .map((calls) => [...calls].sort((one, other) => one.atMs - other.atMs));

interface Grant {
  readonly call: Call;
  readonly at: number;
}

/** Makes the calls at their times, and waits for all that have not left. */
async function grantsOf(
  calls: readonly Call[],
  clock: ManualClock,
  budgets: readonly Pick<RateBudget<"a" | "b">, "acquire">[],
): Promise<Grant[]> {
  const grants: Grant[] = [];
  const startedAt = clock.now();
  for (const call of calls) {
    await clock.advance(Math.max(0, startedAt + call.atMs - clock.now()));
    const leaver = new AbortController();
    budgets[call.process % budgets.length]?.acquire(call.costs, { signal: leaver.signal }).then(
      () => grants.push({ call, at: clock.now() - startedAt }),
      () => undefined,
    );
    if (call.leavesMs !== undefined) {
      clock.schedule(call.leavesMs, () => {
        leaver.abort();
      });
    }
  }
  await clock.advance(60_000);
  return grants;
}

/** Fails where a window has more of a dimension than its capacity, what the rate gives, and `slackMs` of it. */
function checkBound(grants: readonly Grant[], slackMs: number): void {
  for (const name of NAMES) {
    const { maxRowsPerSecond } = RATES[name];
    for (const [from, first] of grants.entries()) {
      let taken = 0;
      let largest = 0;
      for (const { call, at } of grants.slice(from)) {
        taken += call.costs[name];
        largest = Math.max(largest, call.costs[name]);
        const gained = ((at - first.at + slackMs) * maxRowsPerSecond) / 1000;
        // A call for more than the bucket waits until all of it is there.
        expect(taken).toBeLessThanOrEqual(Math.max(CAPACITY[name], largest) + gained + 1e-6);
      }
    }
  }
}

describe("a budget that lies in a store", () => {
  test("of one process grants what a local one grants, when it does", async () => {
    const run = async (calls: readonly Call[]): Promise<void> => {
      const clock = new ManualClock();
      await clock.advance(1000);
      const budget = new RedisRateBudget(RATES, { client: new FakeRedis(clock).send, name: "one", clock });
      const shared = await grantsOf(calls, clock, [budget]);
      const other = new ManualClock();
      const local = await grantsOf(calls, other, [new RateBudget(RATES, { clock: other })]);
      expect(shared.map(({ call }) => calls.indexOf(call))).toEqual(
        local.map(({ call }) => calls.indexOf(call)),
      );
      for (const [index, { at }] of shared.entries()) expect(at).toBeCloseTo(local[index]?.at ?? NaN, 2);
    };
    const stay = CALLS.map((calls) => calls.map((call) => ({ ...call, leavesMs: undefined })));
    await fc.assert(fc.asyncProperty(stay, run), { numRuns: 60 });
  });

  test("of three processes keeps the bound in every window, whoever leaves, and everybody is served", async () => {
    const run = async (calls: readonly Call[]): Promise<void> => {
      const clock = new ManualClock();
      await clock.advance(1000);
      const redis = new FakeRedis(clock);
      const budgets = [1, 2, 3].map(
        () => new RedisRateBudget(RATES, { client: redis.send, name: "three", clock }),
      );
      const grants = await grantsOf(calls, clock, budgets);
      checkBound(grants, 0);
      const stay = calls.filter(({ leavesMs }) => leavesMs === undefined);
      expect(grants.filter(({ call }) => stay.includes(call))).toHaveLength(stay.length);
      for (const process of [0, 1, 2]) {
        const order = grants
          .filter(({ call }) => call.process === process)
          .map(({ call }) => calls.indexOf(call));
        expect(order).toEqual([...order].sort((one, other) => one - other));
      }
    };
    await fc.assert(fc.asyncProperty(CALLS, run), { numRuns: 60 });
  });

  test("keeps the bound, and what answers differ in being late, over a slow network that loses answers", async () => {
    const fate = fc.oneof(
      { weight: 8, arbitrary: fc.tuple(fc.nat(30), fc.nat(30)) },
      { weight: 1, arbitrary: fc.constantFrom("lost" as const, "refused" as const) },
    );
    const run = async (
      calls: readonly Call[],
      fates: readonly FakeRedis["fates"][number][],
    ): Promise<void> => {
      const clock = new ManualClock();
      await clock.advance(1000);
      const redis = new FakeRedis(clock);
      redis.fates = [...fates, [15, 15]];
      const budgets = [1, 2, 3].map(
        () => new RedisRateBudget(RATES, { client: redis.send, name: "slow", clock, storeTimeoutMs: 200 }),
      );
      const grants = await grantsOf(calls, clock, budgets);
      checkBound(grants, 60);
      const stay = calls.filter(({ leavesMs }) => leavesMs === undefined);
      expect(grants.filter(({ call }) => stay.includes(call))).toHaveLength(stay.length);
    };
    await fc.assert(fc.asyncProperty(CALLS, fc.array(fate, { maxLength: 30 }), run), {
      numRuns: 100,
      endOnFailure: true,
    });
  });
});
