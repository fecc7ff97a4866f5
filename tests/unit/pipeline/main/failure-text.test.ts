import { runInNewContext } from "node:vm";
import { describe, expect, test } from "@jest/globals";
import { InvalidArgumentError } from "../../../../src/errors.js";
import { comesOf, failureText } from "../../../../src/pipeline/main/failure-text.js";

/** Without the places in the code. */
function linesOf(failure: unknown): string[] {
  return failureText(failure)
    .split("\n")
    .filter((line) => !/^\s+at /.test(line));
}

describe("failureText", () => {
  test("name, message, and where it was thrown", () => {
    const [head, first] = failureText(new RangeError("too far")).split("\n");
    expect(head).toBe("RangeError: too far");
    expect(first).toMatch(/^ {4}at .*failure-text\.test\.ts/);
  });

  test("the code too, and the name that a subclass has set after the stack was made", () => {
    const error = new InvalidArgumentError("size", "small", 9);
    expect(linesOf(error)).toEqual(['InvalidArgumentError [ARGUMENT_INVALID]: "size" must be small; got 9.']);
  });

  test("a message of several lines, each once", () => {
    expect(linesOf(new Error("one\ntwo"))).toEqual(["Error: one", "two"]);
  });

  test("the chain of causes, to its end, which may be no error", () => {
    const root = new Error("root", { cause: "the tide" });
    const failure = [1, 2, 3, 4].reduce((cause, n) => new Error(`level ${String(n)}`, { cause }), root);
    expect(linesOf(failure)).toEqual([
      "Error: level 4",
      "caused by: Error: level 3",
      "caused by: Error: level 2",
      "caused by: Error: level 1",
      "caused by: Error: root",
      "caused by: the tide",
    ]);
  });

  test("gathered errors, indented, with their own causes and places", () => {
    const one = new Error("one", { cause: new Error("why") });
    const failure = new AggregateError([one, new AggregateError(["two"], "inner")], "both", { cause: one });
    expect(linesOf(failure)).toEqual([
      "AggregateError: both",
      "  1 of 2: Error: one",
      "  caused by: Error: why",
      "  2 of 2: AggregateError: inner",
      "    1 of 1: two",
      "caused by: Error: one (see above)",
    ]);
    expect(failureText(failure)).toMatch(/^ {6}at /m);
  });

  test("a circle of causes ends", () => {
    const error = new Error("round");
    error.cause = new Error("and round", { cause: error });
    expect(linesOf(error)).toEqual([
      "Error: round",
      "caused by: Error: and round",
      "caused by: Error: round (see above)",
    ]);
  });

  test("no more than fit on a screen or two", () => {
    const many = new AggregateError(
      Array.from({ length: 10_000 }, (_, n) => new Error(String(n))),
      "many",
    );
    const lines = linesOf(new Error("outer", { cause: many }));
    expect(lines.length).toBeLessThan(60);
    expect(lines.at(-1)).toMatch(/and more/);
  });

  test.each([
    ["a text", "a text"],
    [undefined, "undefined"],
    [null, "null"],
    [7, "7"],
    [{ reason: "none" }, "an object"],
  ])("what is no error: %p", (thrown, text) => {
    expect(failureText(thrown)).toBe(text);
  });

  test("an error of another realm", () => {
    expect(linesOf(runInNewContext(`new TypeError("elsewhere", { cause: new Error("why") })`))).toEqual([
      "TypeError: elsewhere",
      "caused by: Error: why",
    ]);
  });

  test("what throws when it is looked at", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const failure = new Error("outer", { cause: proxy });
    expect(linesOf(failure)).toEqual(["Error: outer", "caused by: an object"]);
  });
});

describe("comesOf", () => {
  const reason = new Error("told to");

  test.each([
    [reason, true],
    [new Error("outer", { cause: new Error("middle", { cause: reason }) }), true],
    [new Error("told to"), false],
    [new Error("outer", { cause: new Error("middle") }), false],
    [undefined, false],
  ])("%#", (failure, expected) => {
    expect(comesOf(failure, reason)).toBe(expected);
  });

  test("ends on a circle", () => {
    const error = new Error("round");
    error.cause = error;
    expect(comesOf(error, reason)).toBe(false);
  });
});
