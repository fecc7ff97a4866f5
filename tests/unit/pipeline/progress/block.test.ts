import { describe, expect, test } from "@jest/globals";
import { blockLines } from "../../../../src/pipeline/progress/block.js";
import type { RunOutcome } from "../../../../src/pipeline/progress/reporter.js";
import { widthOf } from "../../../../src/pipeline/progress/text.js";
import type { FunctionStats, ProvidedLimiter } from "../../../../src/pipeline/run/run-stats.js";
import { fnStats, limiter, reportOf } from "./support/reports.js";

const FETCH = fnStats("fetchOne", { done: 1_231, failed: 3, inFlight: 12, expected: 5_000 });
const PARSE = fnStats("parse", { done: 1_200, inFlight: 1 });
const STORE = fnStats("storeInTheDatabaseOfAll", { done: 600, expected: 1_200 });
const LIMIT = limiter("rate_limiter", { queued: 1_003 }, { grantedTokens: 1_300 });
const MODEL = limiter(
  "openai",
  { queued: 3, pausedForMs: 8_000 },
  { name: "requests", maxRowsPerSecond: 10, grantedTokens: 1_300 },
  { name: "tokens", maxRowsPerSecond: 500, grantedTokens: 130_000 },
);
const SPEEDS: Record<string, number> = { fetchOne: 47.3, parse: 8.25, storeInTheDatabaseOfAll: 0 };

interface Size {
  readonly columns: number;
  readonly rows?: number;
  readonly outcome?: RunOutcome;
  readonly paint?: (color: number, text: string) => string;
}

function show(
  functions: readonly FunctionStats[],
  limiters: readonly ProvidedLimiter[],
  { columns, rows = 23, outcome, paint = (_, text) => text }: Size,
): string[] {
  const view = {
    report: reportOf(26_400, functions, limiters),
    outcome,
    speedOf: (f: FunctionStats) => SPEEDS[f.name],
  };
  return blockLines(view, columns, rows, paint);
}

describe("exact lines", () => {
  test("80 columns", () => {
    expect(show([FETCH, PARSE, STORE], [LIMIT, MODEL], { columns: 80 })).toEqual([
      "crawl 26 s",
      "fetchOne                 1231/5000  █░░░░░░░  24%   47/s  3 failed  12 in flight",
      "parse                         1200                 8.3/s             1 in flight",
      "storeInTheDatabaseOfAll   600/1200  ████░░░░  50%",
      "rate_limiter  limit 50/s  1003 queued  79 s left",
      "openai  tokens limit 500/s  3 queued  paused 8 s  13 min left",
    ]);
  });

  test("80 columns, one function: the bar has what the others leave", () => {
    expect(show([FETCH], [LIMIT], { columns: 80 })).toEqual([
      "crawl 26 s",
      "fetchOne  1231/5000  █████░░░░░░░░░░░░░░░░░░░  24%  47/s  3 failed  12 in flight",
      "rate_limiter  limit 50/s  1003 queued  79 s left",
    ]);
  });

  test("40 columns", () => {
    expect(show([FETCH, PARSE, STORE], [LIMIT, MODEL], { columns: 40 })).toEqual([
      "crawl 26 s",
      "fetchOne      1231/5000   47/s  3 failed",
      "parse              1200  8.3/s",
      "storeInTheD…   600/1200",
      "rate_limiter  1003 queued  79 s left",
      "openai  paused 8 s  13 min left",
    ]);
  });

  test("20 columns", () => {
    expect(show([FETCH, PARSE, STORE], [LIMIT, MODEL], { columns: 20 })).toEqual([
      "crawl 26 s",
      "fetch…  1231/5000",
      "parse        1200",
      "store…   600/1200",
      "rate_…  79 s left",
      "openai  paused 8 s",
    ]);
  });

  test("without anything to say", () => {
    expect(show([], [], { columns: 80 })).toEqual(["crawl 26 s"]);
  });

  test.each<[RunOutcome, string]>([
    ["done", "crawl done in 26 s"],
    ["failed", "crawl failed after 26 s"],
    ["aborted", "crawl aborted after 26 s"],
  ])("the end: %s, and no time left of a limiter", (outcome, head) => {
    expect(show([FETCH, STORE], [LIMIT], { columns: 60, outcome })).toEqual([
      head,
      "fetchOne            1231/5000  █░░░░░░░  24%  47/s  3 failed",
      "storeInTheDatabas…   600/1200  ████░░░░  50%   0/s",
      "rate_limiter  limit 50/s  1003 queued",
    ]);
  });
});

describe("what goes where there is no room", () => {
  const f = fnStats("fetchOne", { done: 40, failed: 2, inFlight: 7, expected: 100 });

  test.each([
    [75, "fetchOne  40/100  █████████░░░░░░░░░░░░░░  42%  47/s  2 failed  7 in flight"],
    [60, "fetchOne  40/100  ███░░░░░  42%  47/s  2 failed  7 in flight"],
    [59, "fetchOne  40/100  42%  47/s  2 failed  7 in flight"],
    [50, "fetchOne  40/100  42%  47/s  2 failed  7 in flight"],
    [49, "fetchOne  40/100  ████░░░░░░  42%  47/s  2 failed"],
    [37, "fetchOne  40/100  42%  47/s  2 failed"],
    [36, "fetchOne  40/100  47/s  2 failed"],
    [31, "fetchOne  40/100  2 failed"],
    [25, "fetchO…  40/100  2 failed"],
    [20, "fetch…  40/100"],
  ])("%p columns", (columns, line) => {
    expect(show([f], [], { columns })[1]).toBe(line);
  });

  test("a long name of the app is cut", () => {
    const report = { ...reportOf(26_400), app: "collect all the words of the world" };
    const view = { report, outcome: undefined, speedOf: () => undefined };
    expect(blockLines(view, 20, 9, (_, text) => text)).toEqual(["collect all the wor…"]);
  });

  test("huge counts are cut, not wrapped", () => {
    const huge = fnStats("fetchOne", { done: 123_456_789, expected: 987_654_321_000 });
    expect(show([huge], [], { columns: 20 })[1]).toBe("fe…  123456789/9876…");
  });

  test("no line is wider than its room, at any width", () => {
    const wide = fnStats("翻訳する🎉そして保存する", { done: 5, failed: 1, inFlight: 3, expected: 10 });
    const far = limiter("制限".repeat(20), { queued: 5, pausedForMs: 3_000 }, { name: "次元".repeat(20) });
    for (let columns = 20; columns <= 120; columns += 1) {
      for (const line of show([FETCH, PARSE, STORE, wide], [LIMIT, MODEL, far], { columns })) {
        expect(widthOf(line)).toBeLessThanOrEqual(columns);
      }
    }
  });

  test("wide names line up by what they take", () => {
    const wide = fnStats("翻訳", { done: 5 });
    expect(show([wide, PARSE], [], { columns: 40 }).slice(1, 3)).toEqual([
      "翻訳      5",
      "parse  1200  8.3/s  1 in flight",
    ]);
  });

  test("names that would break the lines", () => {
    const evil = fnStats("a\n\x1b[2J\tb", { done: 1 });
    expect(show([evil], [limiter("k\r\n", {}, { name: "d\n" })], { columns: 40 })).toEqual([
      "crawl 26 s",
      "a[2Jb  1",
      "k  d limit 50/s",
    ]);
  });
});

describe("more functions than rows", () => {
  const many = Array.from({ length: 20 }, (_, n) =>
    fnStats(`f${String(n)}`, { done: n, failed: n === 0 ? 2 : 0 }),
  );

  test("those that end most calls, in the order of the report, and how many others there are", () => {
    const speeds: Record<string, number> = { f3: 5, f7: 9, f1: 7 };
    const view = {
      report: reportOf(1_000, many),
      outcome: undefined,
      speedOf: (f: FunctionStats) => speeds[f.name],
    };
    expect(blockLines(view, 40, 5, (_, text) => text)).toEqual([
      "crawl 1 s",
      "f1           1  7/s",
      "f3           3  5/s",
      "f7           7  9/s",
      "and 17 more          2 failed",
    ]);
  });

  test("of those that end none, the ones with most in flight", () => {
    const busy = many.map((f, n) => (n === 4 || n === 9 ? { ...f, inFlight: n } : f));
    expect(show(busy, [], { columns: 40, rows: 4 }).slice(1)).toEqual([
      "f4           4            4 in flight",
      "f9           9            9 in flight",
      "and 18 more     2 failed",
    ]);
  });

  test("limiters have half of the room at most", () => {
    const limiters = Array.from({ length: 9 }, (_, n) => limiter(`l${String(n)}`));
    expect(show(many.slice(0, 2), limiters, { columns: 40, rows: 7 })).toEqual([
      "crawl 26 s",
      "f0  0  2 failed",
      "f1  1",
      "l0  limit 50/s",
      "l1  limit 50/s",
      "l2  limit 50/s",
    ]);
  });

  test.each([1, 2, 3, 4, 5, 10, 23])("never more than %p rows", (rows) => {
    for (const limiters of [[], [LIMIT], [LIMIT, MODEL, LIMIT]]) {
      for (const functions of [many, many.slice(0, 3), []]) {
        const lines = show(functions, limiters, { columns: 80, rows });
        expect(lines.length).toBeLessThanOrEqual(rows);
        expect(lines[0]).toBe("crawl 26 s");
      }
    }
  });

  test("two rows are for the run and its limiter", () => {
    expect(show(many, [LIMIT], { columns: 80, rows: 2 })[1]).toMatch(/^rate_limiter/);
    expect(show(many, [], { columns: 80, rows: 2 })[1]).toMatch(/^and 20 more/);
  });

  test("all fit exactly", () => {
    expect(show(many, [], { columns: 40, rows: 21 })).toHaveLength(21);
    expect(show(many, [], { columns: 40, rows: 21 }).at(-1)).toMatch(/^f19/);
    expect(show(many, [], { columns: 40, rows: 20 }).at(-1)).toMatch(/^and 2 more/);
  });
});

test("a function that rests has no speed; one that is stuck has", () => {
  const still = fnStats("storeInTheDatabaseOfAll", { done: 5 });
  expect(show([still], [], { columns: 60 })[1]).not.toContain("/s");
  expect(show([{ ...still, inFlight: 1 }], [], { columns: 60 })[1]).toContain("  0/s  1 in flight");
});

test("a limiter without a limit has no line", () => {
  expect(show([], [limiter("free", {}, { maxRowsPerSecond: Infinity })], { columns: 80 })).toEqual([
    "crawl 26 s",
  ]);
});

test("colours: the outcome, failures and pauses; they take no room", () => {
  const paint = (color: number, text: string): string => `<${String(color)}:${text}>`;
  const lines = (outcome?: RunOutcome): string[] =>
    show([FETCH], [MODEL], outcome === undefined ? { columns: 60, paint } : { columns: 60, paint, outcome });
  expect(lines()).toEqual([
    "crawl 26 s",
    "fetchOne  1231/5000  24%  47/s  <31:3 failed>  12 in flight",
    "openai  3 queued  <33:paused 8 s>  13 min left",
  ]);
  expect(lines("done")[0]).toBe("<32:crawl done in 26 s>");
  expect(lines("failed")[0]).toBe("<31:crawl failed after 26 s>");
  expect(lines("aborted")[0]).toBe("<33:crawl aborted after 26 s>");
});
