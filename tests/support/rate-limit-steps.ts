import fc from "fast-check";
import type { Misses } from "./rate-limit-clocks.js";
import type { LineSetting, Setting } from "./rate-limit-settings.js";

/** Rates whose tokens fall on whole milliseconds, on fractions of them, and on times that no double holds. */
const RATES = [3, 7, 0.1, 2.5, 1 / 3, 0.7, 60 / 7, 1000, 10_000] as const;

const WINDOWS = [0, 0.001, 0.25, 1, 4] as const;

/** A number of tokens: given outright, or by its distance from the capacity. */
export type Tokens = { readonly count: number } | { readonly overCapacity: number };

/** A time, near enough to the moment when something happens that a wrong comparison shows. */
export type Time = { readonly ms: number } | { readonly fromNext: number };

/** What a new rate changes of one dimension. */
export interface RateChange {
  readonly rate?: number | undefined;
  readonly burst?: number | undefined;
}

/** Tokens and changes are given for each dimension; a limiter has one. A dimension without a change is left out. */
export type Step =
  | {
      readonly do: "acquire";
      readonly tokens: readonly Tokens[];
      readonly maxWait: Time | undefined;
      readonly timeLeft: Time | undefined;
      readonly signal: number | undefined;
      readonly scope: number | undefined;
    }
  | { readonly do: "tryAcquire"; readonly tokens: readonly Tokens[] }
  | { readonly do: "refund"; readonly tokens: readonly Tokens[] }
  | { readonly do: "charge"; readonly tokens: readonly Tokens[] }
  /** Says what one of the permits has needed; a dimension that is undefined is left out. */
  | { readonly do: "settle"; readonly which: number; readonly actual: readonly (Tokens | undefined)[] }
  | { readonly do: "giveBack"; readonly which: number }
  | { readonly do: "abort" | "endScope"; readonly source: number }
  | { readonly do: "pause" | "advance"; readonly time: Time }
  | { readonly do: "setRate"; readonly changes: readonly (RateChange | undefined)[] }
  | { readonly do: "resume" | "close" };

export type StepName = Step["do"];
export type StepOf<N extends StepName> = N extends StepName ? Extract<Step, { readonly do: N }> : never;

export const rate = fc.constantFrom(...RATES);
const burst = fc.constantFrom(...WINDOWS);
const filled = fc.constantFrom(0, 0.3, 1);
const maxQueue = fc.constantFrom(Infinity, Infinity, Infinity, 0, 3);

export const setting: fc.Arbitrary<Setting> = fc.record({ rate, burst, filled, maxQueue });

/** A budget of so many dimensions. */
export function budgetSetting(dimensions: number): fc.Arbitrary<LineSetting> {
  return fc.record({ dimensions: each(fc.record({ rate, burst, filled }), dimensions), maxQueue });
}

/** Milliseconds beside the moment itself. The one for "at" leaves room for the last bits of a double. */
const JUST_BEFORE = [-1e-3, -3e-6] as const;
export const AT = 4.5e-7;
const JUST_AFTER = [3e-6, 1e-3] as const;

const beside = fc.constantFrom(...JUST_BEFORE, AT, AT, ...JUST_AFTER);

/** Whole microseconds, so that nothing falls less than a nanosecond beside something else by accident. */
const microseconds = fc.nat({ max: 5_000_000 }).map((count) => count / 1000);

const time: fc.Arbitrary<Time> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ fromNext: beside }) },
  { weight: 1, arbitrary: fc.record({ ms: fc.constantFrom(0, 1, 5, 50, 1000) }) },
  { weight: 1, arbitrary: fc.record({ ms: microseconds }) },
);

const tokens: fc.Arbitrary<Tokens> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ count: fc.constantFrom(1, 1, 1, 2, 3, 5) }) },
  { weight: 2, arbitrary: fc.record({ overCapacity: fc.constantFrom(-1, 0, 1, 4) }) },
  { weight: 1, arbitrary: fc.record({ count: fc.constant(0) }) },
);

/** A few, so that some are shared by several calls and some have one caller only. */
const source = fc.nat({ max: 3 });

const sometimes = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 });

/** Settling is most often by a few tokens more or less than these. */
const needed: fc.Arbitrary<Tokens | undefined> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: fc.record({ count: fc.constantFrom(0, 1, 2, 4, 8) }) },
  { weight: 1, arbitrary: fc.record({ overCapacity: fc.constantFrom(-1, 0, 1, 4) }) },
);

/** A call to a budget often leaves a dimension out. */
const someTokens: fc.Arbitrary<Tokens> = fc.oneof(
  { weight: 3, arbitrary: tokens },
  { weight: 1, arbitrary: fc.record({ count: fc.constant(0) }) },
);

function each<T>(arbitrary: fc.Arbitrary<T>, count: number): fc.Arbitrary<T[]> {
  return fc.array(arbitrary, { minLength: count, maxLength: count });
}

function stepsFor(dimensions: number): { readonly [N in StepName]: fc.Arbitrary<Step> } {
  const costs = each(dimensions === 1 ? tokens : someTokens, dimensions);
  const change = fc.record({ rate: sometimes(rate), burst: sometimes(burst) });
  return {
    acquire: fc.record({
      do: fc.constant("acquire"),
      tokens: costs,
      maxWait: sometimes(time),
      timeLeft: fc.option(time, { nil: undefined, freq: 8 }),
      signal: sometimes(source),
      scope: sometimes(source),
    }),
    tryAcquire: fc.record({ do: fc.constant("tryAcquire"), tokens: costs }),
    refund: fc.record({ do: fc.constant("refund"), tokens: costs }),
    charge: fc.record({ do: fc.constant("charge"), tokens: costs }),
    settle: fc.record({
      do: fc.constant("settle"),
      which: fc.nat({ max: 9 }),
      actual: each(needed, dimensions),
    }),
    giveBack: fc.record({ do: fc.constant("giveBack"), which: fc.nat({ max: 9 }) }),
    abort: fc.record({ do: fc.constant("abort"), source }),
    endScope: fc.record({ do: fc.constant("endScope"), source }),
    pause: fc.record({ do: fc.constant("pause"), time }),
    advance: fc.record({ do: fc.constant("advance"), time }),
    setRate: fc.record({
      do: fc.constant("setRate"),
      changes: each(dimensions === 1 ? change : sometimes(change), dimensions),
    }),
    resume: fc.record({ do: fc.constant("resume") }),
    close: fc.record({ do: fc.constant("close") }),
  };
}

/** How often each step comes; a step that is not named never does. */
export type Weights = Partial<Record<StepName, number>>;

/** Sequences of the named steps, each as often as its weight says. */
export function plan(weights: Weights, maxLength = 40, dimensions = 1): fc.Arbitrary<Step[]> {
  const steps = stepsFor(dimensions);
  const entries = Object.entries(weights) as [StepName, number][];
  const step = fc.oneof(...entries.map(([name, weight]) => ({ weight, arbitrary: steps[name] })));
  return fc.array(step, { maxLength, size: "max" });
}

/** Late by at most what law 3 makes up for. */
export const slightlyLate = fc
  .array(fc.nat({ max: 5000 }), { minLength: 1, maxLength: 8 })
  .map((microseconds) => ({ lateMs: microseconds.map((count) => count / 1000) }));

/** Late by up to half a second, as when the process stands still. */
export const stalled = fc.record({
  lateMs: fc.array(fc.constantFrom(0, 1, 4.9, 5, 5.1, 60, 500), { minLength: 1, maxLength: 8 }),
});

// None of these, taken again and again, comes to exactly the half nanosecond that grants are allowed to be early.
export const tooEarly = fc.record({
  earlyParts: fc.array(fc.constantFrom(0, 0.0013, 0.37, 0.73, 0.89), { minLength: 1, maxLength: 8 }),
});

export const anyMisses: fc.Arbitrary<Misses> = fc.oneof(slightlyLate, stalled, tooEarly);

/** Undefined for exact timers. */
export const anyOrNoMisses: fc.Arbitrary<Misses | undefined> = fc.option(anyMisses, { nil: undefined });

/** Everything that a limiter can be asked for. */
export const MIXED: Weights = {
  acquire: 24,
  advance: 20,
  tryAcquire: 6,
  abort: 4,
  endScope: 2,
  pause: 2,
  resume: 2,
  setRate: 4,
  refund: 4,
  charge: 3,
  close: 1,
};

/** The same of a budget, where permits take the place of refunds and charges. */
export const MIXED_FOR_BUDGETS: Weights = { ...MIXED, refund: 0, charge: 0, settle: 8, giveBack: 3 };
