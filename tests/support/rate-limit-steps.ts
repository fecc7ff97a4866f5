import fc from "fast-check";
import type { Misses } from "./rate-limit-clocks.js";

/** Rates whose tokens fall on whole milliseconds, on fractions of them, and on times that no double holds. */
const RATES = [3, 7, 0.1, 2.5, 1 / 3, 0.7, 60 / 7, 1000, 10_000] as const;

const WINDOWS = [0, 0.001, 0.25, 1, 4] as const;

/** A number of tokens: given outright, or by its distance from the capacity. */
export type Tokens = { readonly count: number } | { readonly overCapacity: number };

/** A time, near enough to the moment when something happens that a wrong comparison shows. */
export type Time = { readonly ms: number } | { readonly fromNext: number };

export type Step =
  | {
      readonly do: "acquire";
      readonly tokens: Tokens;
      readonly maxWait: Time | undefined;
      readonly timeLeft: Time | undefined;
      readonly signal: number | undefined;
      readonly scope: number | undefined;
    }
  | { readonly do: "tryAcquire" | "refund" | "charge"; readonly tokens: Tokens }
  | { readonly do: "abort" | "endScope"; readonly source: number }
  | { readonly do: "pause" | "advance"; readonly time: Time }
  | { readonly do: "setRate"; readonly rate: number | undefined; readonly burst: number | undefined }
  | { readonly do: "resume" | "close" };

export type StepName = Step["do"];

export interface Setting {
  readonly rate: number;
  readonly burst: number;
  /** Part of the capacity that is there at the start. */
  readonly filled: number;
  readonly maxQueue: number;
}

export const rate = fc.constantFrom(...RATES);
const burst = fc.constantFrom(...WINDOWS);

export const setting: fc.Arbitrary<Setting> = fc.record({
  rate,
  burst,
  filled: fc.constantFrom(0, 0.3, 1),
  maxQueue: fc.constantFrom(Infinity, Infinity, Infinity, 0, 3),
});

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

const STEP: { readonly [D in StepName]: fc.Arbitrary<Step> } = {
  acquire: fc.record({
    do: fc.constant("acquire"),
    tokens,
    maxWait: sometimes(time),
    timeLeft: fc.option(time, { nil: undefined, freq: 8 }),
    signal: sometimes(source),
    scope: sometimes(source),
  }),
  tryAcquire: fc.record({ do: fc.constant("tryAcquire"), tokens }),
  refund: fc.record({ do: fc.constant("refund"), tokens }),
  charge: fc.record({ do: fc.constant("charge"), tokens }),
  abort: fc.record({ do: fc.constant("abort"), source }),
  endScope: fc.record({ do: fc.constant("endScope"), source }),
  pause: fc.record({ do: fc.constant("pause"), time }),
  advance: fc.record({ do: fc.constant("advance"), time }),
  setRate: fc.record({ do: fc.constant("setRate"), rate: sometimes(rate), burst: sometimes(burst) }),
  resume: fc.record({ do: fc.constant("resume") }),
  close: fc.record({ do: fc.constant("close") }),
};

/** Sequences of the named steps, each as often as its weight says. */
export function plan(weights: Partial<Record<StepName, number>>, maxLength = 40): fc.Arbitrary<Step[]> {
  const entries = Object.entries(weights) as [StepName, number][];
  const step = fc.oneof(...entries.map(([name, weight]) => ({ weight, arbitrary: STEP[name] })));
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
