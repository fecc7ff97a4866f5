import { describe, expect, jest, test } from "@jest/globals";
import type * as Errors from "../../src/errors.js";
import { describeValue, InvalidArgumentError, isTidegateError, TidegateError } from "../../src/errors.js";
import { LimiterClosedError, QueueFullError } from "../../src/rate-limit/index.js";

describe("TidegateError", () => {
  const error = new QueueFullError("api", 3);

  test("is an Error with a name, a code, a stack and a message", () => {
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(TidegateError);
    expect(error).toMatchObject({ name: "QueueFullError", code: "QUEUE_FULL" });
    expect(error.stack).toContain("errors.test.ts");
    expect(String(error)).toMatch(/^QueueFullError: Limiter "api"/);
  });

  test("a subclass recognises its own errors only", () => {
    expect(error instanceof QueueFullError).toBe(true);
    expect(error instanceof LimiterClosedError).toBe(false);
    expect(error instanceof InvalidArgumentError).toBe(false);
  });

  test("is not what merely looks like it", () => {
    const others = [
      new Error("x"),
      { code: "QUEUE_FULL", name: "QueueFullError" },
      null,
      undefined,
      "QUEUE_FULL",
      1,
    ];
    for (const other of others) {
      expect(other instanceof TidegateError).toBe(false);
      expect(isTidegateError(other)).toBe(false);
    }
  });

  test("its mark does not show", () => {
    expect(Object.keys(error).sort()).toEqual(["code", "limiter", "maxQueue", "name"]);
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      code: "QUEUE_FULL",
      limiter: "api",
      maxQueue: 3,
      name: "QueueFullError",
    });
  });

  test("has a cause when one is given", () => {
    const cause = new Error("why");
    expect(new LimiterClosedError("api", cause).cause).toBe(cause);
    expect(Object.hasOwn(error, "cause")).toBe(false);
  });
});

describe("isTidegateError", () => {
  test("without a code is true for every error of the package", () => {
    expect(isTidegateError(new QueueFullError("api", 3))).toBe(true);
    expect(isTidegateError(new InvalidArgumentError("n", "a number", "x"))).toBe(true);
  });

  test("with a code is true for that code only", () => {
    const error: unknown = new QueueFullError("api", 3);
    expect(isTidegateError(error, "QUEUE_FULL")).toBe(true);
    expect(isTidegateError(error, "LIMITER_CLOSED")).toBe(false);
    expect(isTidegateError(new Error("x"), "QUEUE_FULL")).toBe(false);
  });
});

describe("errors of another copy of the package", () => {
  test("are recognised by the base class and the guard; a subclass stays strict", async () => {
    let copy: typeof Errors | undefined;
    await jest.isolateModulesAsync(async () => {
      copy = await import("../../src/errors.js");
    });
    const other = copy as typeof Errors;
    const theirs: unknown = new other.InvalidArgumentError("n", "a number", "x");
    expect(other.TidegateError).not.toBe(TidegateError);
    expect(theirs instanceof TidegateError).toBe(true);
    expect(theirs instanceof InvalidArgumentError).toBe(false);
    expect(isTidegateError(theirs, "ARGUMENT_INVALID")).toBe(true);
    expect(new InvalidArgumentError("n", "a number", "x") instanceof other.TidegateError).toBe(true);
  });
});

describe("InvalidArgumentError", () => {
  test("names the option, what it must be, and what came", () => {
    const error = new InvalidArgumentError("maxQueue", "an integer from 0 up", -1);
    expect(error.message).toBe('"maxQueue" must be an integer from 0 up; got -1.');
    expect(error).toMatchObject({
      name: "InvalidArgumentError",
      code: "ARGUMENT_INVALID",
      option: "maxQueue",
      requirement: "an integer from 0 up",
      received: -1,
    });
  });
});

describe("describeValue", () => {
  class Point {
    readonly x = 1;
  }

  test.each<[unknown, string]>([
    [undefined, "undefined"],
    [null, "null"],
    [true, "true"],
    [NaN, "NaN"],
    [0, "0"],
    [-0, "-0"],
    [-Infinity, "-Infinity"],
    [1.5, "1.5"],
    [12n, "12n"],
    ["5/s", '"5/s"'],
    ["", '""'],
    ['a "quote"\n', '"a \\"quote\\"\\n"'],
    [Symbol("one"), "Symbol(one)"],
    [[1, 2, 3], "an array of 3"],
    [{}, "an object"],
    [{ a: 1 }, "an object"],
    [Object.create(null), "an object"],
    [{ constructor: 5 }, "an object"],
    [new Point(), "a Point"],
    [new Date(0), "a Date"],
    [Promise.resolve(), "a Promise"],
    [Point, "the function Point"],
    [() => 1, "a function"],
  ])("case %#: %s", (value, text) => {
    expect(describeValue(value)).toBe(text);
  });

  test("is short, whatever the value", () => {
    const long = "x".repeat(10_000);
    const named = Object.defineProperty(() => 1, "name", { value: long });
    for (const value of [long, named, Symbol(long), 10n ** 5_000n, { constructor: { name: long } }]) {
      expect(describeValue(value).length).toBeLessThanOrEqual(63);
      expect(describeValue(value)).toContain("…");
    }
  });

  test("never throws", () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const fail = (): never => {
      throw new Error("no");
    };
    const hostile: [unknown, string][] = [
      [revoked.proxy, "an object"],
      [new Proxy({}, { get: fail }), "an object"],
      [new Proxy(() => 1, { get: fail }), "a function"],
      [Object.defineProperty(() => 1, "name", { value: Symbol("s") }), "a function"],
      [Object.defineProperty({}, "constructor", { get: fail }), "an object"],
    ];
    for (const [value, text] of hostile) expect(describeValue(value)).toBe(text);
  });
});
