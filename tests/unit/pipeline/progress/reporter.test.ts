import { describe, expect, test } from "@jest/globals";
import { type ProgressReporter, requireProgress } from "../../../../src/pipeline/progress/reporter.js";
import { thrownBy } from "../helpers.js";

const update = (): void => undefined;
const progressOf = requireProgress as (progress: unknown) => unknown;

describe("requireProgress", () => {
  test.each([[undefined], [false]])("%p is silence", (progress) => {
    expect(requireProgress(progress)).toBeUndefined();
  });

  test("true is the terminal", () => {
    expect(requireProgress(true)).toBe(true);
  });

  test.each<[string, ProgressReporter]>([
    ["update alone", { update }],
    ["all", { update, start: update, log: update, stop: update, intervalMs: 0.5 }],
    ["what is undefined", { update, intervalMs: undefined }],
    ["methods of a class", new (class implements ProgressReporter { update(): void {} })()], // prettier-ignore
  ])("a reporter stays as it is: %s", (_, reporter) => {
    expect(requireProgress(reporter)).toBe(reporter);
  });

  test.each([
    [null, "null"],
    [1, "1"],
    ["yes", '"yes"'],
    [update, "the function update"],
    [{}, "an object"],
    [{ update: 1 }, "an object"],
  ])("%p is none", (progress, shown) => {
    expect(thrownBy(() => progressOf(progress))).toMatchObject({
      code: "ARGUMENT_INVALID",
      message: `"progress" must be a boolean, or a reporter with update(); got ${shown}.`,
    });
  });

  test.each(["start", "log", "stop"])("%s must be a function", (method) => {
    expect(thrownBy(() => progressOf({ update, [method]: null }))).toMatchObject({
      code: "ARGUMENT_INVALID",
      message: `"progress.${method}" must be a function; got null.`,
    });
  });

  test.each([0, -1, NaN, Infinity, "100", null])("intervalMs cannot be %p", (intervalMs) => {
    expect(thrownBy(() => progressOf({ update, intervalMs }))).toMatchObject({
      code: "ARGUMENT_INVALID",
      option: "intervalMs",
      requirement: "a finite number of milliseconds above 0",
    });
  });
});
