// Checked by `npm run types`; never run.
import { type Limiter, perHour, type Permit, RateBudget, type RateBudgetStats } from "tidegate/rate-limit";
import { ManualClock } from "tidegate/testing";

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- compares without assignability
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function expectType<A>(value: A): { toBe<B>(are: Same<A, B>): void };

declare const maybeNumber: number | undefined;
declare const maybeSignal: AbortSignal | undefined;

// The dimensions are those of the constructor, everywhere.
const budget = new RateBudget({
  requests: { maxRowsPerSecond: 10 },
  tokens: { maxRowsPerSecond: perHour(9), burstWindowSecs: maybeNumber, initialTokens: 0 },
});
type Dimension = "requests" | "tokens";
expectType(budget).toBe<RateBudget<Dimension>>(true);
new RateBudget(
  { a: { maxRowsPerSecond: 1 } },
  { name: "api", clock: new ManualClock(), maxQueue: maybeNumber },
);
// @ts-expect-error the dimensions are missing
new RateBudget();
// @ts-expect-error a dimension is an object of options
new RateBudget({ requests: 10 });
// @ts-expect-error the rate is missing
new RateBudget({ requests: { burstWindowSecs: 1 } });
// @ts-expect-error no such option of a dimension
new RateBudget({ requests: { maxRowsPerSecond: 1, maxQueue: 5 } });
// @ts-expect-error no such option of a budget
new RateBudget({ requests: { maxRowsPerSecond: 1 } }, { maxRowsPerSecond: 5 });

expectType(budget.acquire({})).toBe<Promise<Permit<Dimension>>>(true);
expectType(budget.tryAcquire({ tokens: 5 })).toBe<Permit<Dimension> | undefined>(true);
expectType(budget.estimateWaitMs({ requests: 1 })).toBe<number>(true);
expectType(budget.stats()).toBe<RateBudgetStats<Dimension>>(true);
expectType(budget.stats().dimensions.tokens.available).toBe<number>(true);
void budget.acquire({ requests: 1, tokens: 5 }, { signal: maybeSignal, maxWaitMs: maybeNumber });
// @ts-expect-error no such dimension
void budget.acquire({ request: 1 });
// @ts-expect-error a budget takes a record, not a number
void budget.acquire(1);
// @ts-expect-error tokens are a number
void budget.acquire({ tokens: "5" });
// @ts-expect-error no such dimension
budget.tryAcquire({ tokens: 5, words: 5 });
// @ts-expect-error no such dimension
budget.estimateWaitMs({ words: 5 });
// @ts-expect-error no such dimension
export const unknownDimension: unknown = budget.stats().dimensions.words;
budget.setRate({ tokens: { maxRowsPerSecond: 5 } });
// @ts-expect-error no such dimension
budget.setRate({ words: { maxRowsPerSecond: 5 } });
// @ts-expect-error the rate of a dimension, not of the budget
budget.setRate({ maxRowsPerSecond: 5 });
// @ts-expect-error tokens at the start are no rate
budget.setRate({ tokens: { initialTokens: 5 } });

// A permit knows the dimensions of its budget.
declare const permit: Permit<Dimension>;
expectType(permit.costs).toBe<Readonly<Record<Dimension, number>>>(true);
permit.settle({ tokens: 5 });
permit.settle({});
permit.refund();
// @ts-expect-error no such dimension
permit.settle({ words: 5 });
// @ts-expect-error what was needed must be given
permit.settle();
// @ts-expect-error everything is given back
permit.refund(5);
// @ts-expect-error it can be read, not written
permit.costs.tokens = 5;

// A budget can be disposed of. It is no Limiter: what it takes is a record.
export const disposableBudget: Disposable = budget;
// @ts-expect-error acquire takes a record
export const budgetAsLimiter: Limiter = budget;
// @ts-expect-error it lacks a dimension
export const narrower: RateBudget<Dimension> = new RateBudget({ tokens: { maxRowsPerSecond: 1 } });
