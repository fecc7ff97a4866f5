import { describe, expect, test } from "@jest/globals";
import { InvalidArgumentError } from "../../../src/errors.js";
import {
  requireCount,
  requireFinite,
  requireFunction,
  requireLimit,
  requireOptions,
  requireRate,
} from "../../../src/internal/checks.js";

const ODD: unknown[] = [undefined, null, NaN, "1", 1n, true, {}, [], Symbol("one")];

/** One check, what it lets through, what it refuses besides the odd values, and what it says. */
const CHECKS: [string, (value: unknown) => unknown, unknown[], unknown[], string][] = [
  [
    "requireCount",
    (value) => requireCount("n", value),
    [0, 1, Number.MAX_SAFE_INTEGER],
    [-1, 0.5, Infinity, 2 ** 53],
    "an integer from 0 up",
  ],
  [
    "requireFinite",
    (value) => requireFinite("n", value, 2, "seconds"),
    [2, 2.5, 1e300],
    [1.999, -2, Infinity],
    "a finite number of seconds from 2 up",
  ],
  [
    "requireRate",
    (value) => requireRate("n", value),
    [Number.MIN_VALUE, 0.5, 1e300, Infinity],
    [0, -0, -1, -Infinity],
    "a number above 0 (tokens a second), or Infinity",
  ],
  [
    "requireLimit",
    (value) => requireLimit("n", value),
    [1, 2, Number.MAX_SAFE_INTEGER, Infinity],
    [0, -1, 1.5, 2 ** 53],
    "an integer from 1 up, or Infinity",
  ],
];

describe.each(CHECKS)("%s", (_name, check, good, bad, requirement) => {
  test.each(good)("gives %p back", (value) => {
    expect(check(value)).toBe(value);
  });

  test.each([...bad, ...ODD])("refuses %p", (value) => {
    let error: unknown;
    try {
      check(value);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(InvalidArgumentError);
    expect(error).toMatchObject({ option: "n", requirement, received: value });
  });
});

test("requireFunction gives a function back and refuses anything else", () => {
  const f = (): number => 1;
  expect(requireFunction("f", f)).toBe(f);
  for (const value of ODD) expect(() => requireFunction("f", value)).toThrow('"f" must be a function; got ');
});

test("requireOptions gives an object or undefined back and refuses anything else", () => {
  const options = { a: 1 };
  expect(requireOptions("options", options)).toBe(options);
  expect(requireOptions("options", undefined)).toBeUndefined();
  for (const value of [null, 1, "a", () => 1, Symbol("one")]) {
    expect(() => requireOptions("options", value as object)).toThrow(
      '"options" must be an object of options; got ',
    );
  }
});
