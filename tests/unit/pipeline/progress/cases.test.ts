import { describe, expect, test } from "@jest/globals";
import type { ProgressStream } from "../../../../src/pipeline/progress/screen.js";
import { terminalProgress } from "../../../../src/pipeline/progress/terminal-progress.js";
import type { CallCounts } from "../../../../src/pipeline/run/run-stats.js";
import { fnStats, limiter, reportOf } from "./support/reports.js";

const BAD = /NaN|Infinity|undefined|null/;

/** All that is written of a run in these states, one after the other, redrawn and as plain lines. */
function written(size: object, states: readonly Partial<CallCounts>[], odd: number[] = [0]): string {
  let text = "";
  const stream: ProgressStream = { ...size, write: (part) => (text += part) };
  for (const redraw of [true, false]) {
    const reporter = terminalProgress({ stream, redraw, color: false });
    reporter.start?.(reportOf(0));
    for (const [index, counts] of states.entries()) {
      for (const n of odd) {
        const limits = [
          limiter("api", { queued: n, pausedForMs: n }, { grantedTokens: n, available: n, queuedTokens: n }),
          limiter("rate", {}, { maxRowsPerSecond: n || 1 }),
        ];
        reporter.update(
          reportOf(index * 2_000 + n, [fnStats("f", counts), fnStats("g", { done: n })], limits),
        );
      }
    }
    reporter.stop?.(reportOf(states.length * 2_000, [fnStats("f", states.at(-1))]), "done");
  }
  return text;
}

describe("F115: a size that is not known", () => {
  test.each([
    ["none at all, as in a pipe", {}],
    ["undefined", { columns: undefined, rows: undefined, isTTY: undefined }],
    ["0", { columns: 0, rows: 0, isTTY: true }],
    ["10 columns", { columns: 10, rows: 1, isTTY: true }],
    ["NaN", { columns: NaN, rows: NaN }],
    ["endless", { columns: Infinity, rows: Infinity }],
    ["negative", { columns: -80, rows: -24 }],
    ["a text", { columns: "80", rows: "24" }],
  ])("%s", (_, size) => {
    const text = written(size, [{ done: 1, expected: 10, inFlight: 2 }, { done: 10, expected: 10 }]); // prettier-ignore
    expect(text).not.toMatch(BAD);
    // The usual 80 columns: there is room for the widest bar.
    expect(text).toContain(`f  10/10  ${"█".repeat(24)}  100%`);
  });
});

describe("F117: counts that cannot be divided", () => {
  test.each<[string, Partial<CallCounts>]>([
    ["0 done", { done: 0, expected: 10 }],
    ["none expected", { done: 0, expected: 0 }],
    ["NaN expected", { done: 1, expected: NaN }],
    ["Infinity expected", { done: 1, expected: Infinity }],
    ["12 of 10", { done: 12, expected: 10 }],
    ["all counts are none", { done: NaN, failed: NaN, inFlight: NaN, expected: NaN, percent: NaN }],
    ["all counts are endless", { done: Infinity, failed: Infinity, inFlight: Infinity, percent: Infinity }],
    ["negative", { done: -1, failed: -2, inFlight: -3, expected: -4, percent: -5 }],
  ])("%s", (_, counts) => {
    const text = written({ columns: 80 }, [counts, counts], [0, 5_000, NaN, Infinity, -Infinity]);
    expect(text).not.toMatch(BAD);
    for (const [, percent] of text.matchAll(/(-?\d+)%/g)) {
      expect(Number(percent)).toBeGreaterThanOrEqual(0);
      expect(Number(percent)).toBeLessThanOrEqual(100);
    }
  });

  test("12 of 10 shows both, and a full bar", () => {
    expect(written({ columns: 80 }, [{ done: 12, expected: 10 }])).toContain(
      `12/10  ${"█".repeat(24)}  100%`,
    );
  });

  test("a total that grows from 10 to 20", () => {
    const text = written({ columns: 80 }, [
      { done: 8, expected: 10 },
      { done: 8, expected: 20 },
    ]);
    expect(text).toContain("f  8/10  ███████████████████░░░░░  80%");
    expect(text).toContain("f  8/20  █████████░░░░░░░░░░░░░░░  40%");
  });

  test("an empty run ends as complete", () => {
    const text = written({ columns: 80 }, [{ expected: 0 }]);
    expect(text).toContain(`crawl done in 2 s\nf  0/0  ${"█".repeat(24)}  100%`);
    expect(text).toContain("crawl done in 2 s: f 0/0, 100%");
  });
});
