import { expect, test } from "@jest/globals";
import { Speeds, speedsOverAll } from "../../../../src/pipeline/progress/speeds.js";
import { fnStats, reportOf } from "./support/reports.js";

/** Speeds after reports at these times, with so many calls done. */
function speedAfter(...history: readonly (readonly [at: number, done: number])[]): number | undefined {
  const speeds = new Speeds();
  for (const [at, done] of history) speeds.add(reportOf(at, [fnStats("f", { done })]));
  return speeds.of(fnStats("f", { done: history.at(-1)?.[1] ?? 0 }));
}

test("calls that have ended, by the time since the first report", () => {
  expect(speedAfter([0, 0], [2_000, 30])).toBe(15);
});

test("failed ones count", () => {
  const speeds = new Speeds();
  speeds.add(reportOf(0, [fnStats("f", { failed: 10 })]));
  const now = fnStats("f", { done: 20, failed: 30 });
  speeds.add(reportOf(1_000, [now]));
  expect(speeds.of(now)).toBe(40);
});

test("nothing is said of less than a second", () => {
  expect(speedAfter([0, 0], [999, 30])).toBeUndefined();
  expect(speedAfter([0, 0], [1_000, 30])).toBe(30);
});

test("only the last five seconds count", () => {
  expect(speedAfter([0, 0], [1_000, 900], [2_000, 900], [6_000, 920], [7_000, 930])).toBe(6);
  // At 6 s the report of 1 s is just old enough to be the first.
  expect(speedAfter([0, 0], [1_000, 900], [6_000, 950])).toBe(10);
  expect(speedAfter([0, 0], [1_001, 900], [6_000, 960])).toBe(160);
});

test("reports in quick succession are no samples of their own, so their number is bounded", () => {
  expect(speedAfter([0, 0], [249, 100], [5_249, 200])).toBeCloseTo(200 / 5.249);
  expect(speedAfter([0, 0], [250, 100], [5_250, 200])).toBe(20);
});

test("a function counts from the report on that first names it", () => {
  const speeds = new Speeds();
  speeds.add(reportOf(0));
  speeds.add(reportOf(3_000, [fnStats("late", { done: 5 })]));
  speeds.add(reportOf(4_000, [fnStats("late", { done: 12 })]));
  expect(speeds.of(fnStats("late", { done: 12 }))).toBe(7);
  expect(speeds.of(fnStats("never", { done: 12 }))).toBeUndefined();
});

test("a count that is none has no speed", () => {
  expect(speedAfter([0, 0], [2_000, NaN])).toBeUndefined();
  expect(speedAfter([0, 10], [2_000, 0])).toBeUndefined();
});

test("over all of a run", () => {
  expect(speedsOverAll(reportOf(20_000))(fnStats("f", { done: 90, failed: 10 }))).toBe(5);
  expect(speedsOverAll(reportOf(500))(fnStats("f", { done: 90 }))).toBeUndefined();
});
