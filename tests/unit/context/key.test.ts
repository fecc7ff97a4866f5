import { expect, jest, test } from "@jest/globals";
import { ContextKey, tryUseContext, useContext } from "../../../src/context/index.js";
import { InvalidArgumentError } from "../../../src/errors.js";

test.each([
  ["an empty name", ""],
  ["a number", 7],
  ["nothing", undefined],
])("%s is no name of a key", (_, name) => {
  expect(() => new ContextKey(name as string)).toThrow(InvalidArgumentError);
});

test("a default that is not a function is refused", () => {
  expect(() => new ContextKey("k", { defaultValue: 7 as never })).toThrow(
    /"defaultValue" must be a function/,
  );
});

test("a key's default is made at the first lookup, once per key", () => {
  const make = jest.fn(() => ({}));
  const key = new ContextKey<object>("k", { defaultValue: make });
  expect(make).not.toHaveBeenCalled();
  const first = useContext(key);
  expect(useContext(key)).toBe(first);
  expect(tryUseContext(key)).toBe(first);
  expect(make).toHaveBeenCalledTimes(1);
});

test("a default of undefined is made once too", () => {
  const make = jest.fn((): number | undefined => undefined);
  const key = new ContextKey<number | undefined>("k", { defaultValue: make });
  expect([useContext(key), useContext(key)]).toEqual([undefined, undefined]);
  expect(make).toHaveBeenCalledTimes(1);
});

test("a default that throws is not remembered", () => {
  let calls = 0;
  const key = new ContextKey<number>("k", {
    defaultValue: () => {
      calls += 1;
      if (calls === 1) throw new Error("not yet");
      return calls;
    },
  });
  expect(() => useContext(key)).toThrow("not yet");
  expect(useContext(key)).toBe(2);
});

test("a lookup by something that is no key says so", () => {
  expect(() => useContext("db" as never)).toThrow(InvalidArgumentError);
  expect(() => tryUseContext(undefined as never)).toThrow(/"key" must be a ContextKey/);
});
