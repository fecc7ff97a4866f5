import { expect, test } from "@jest/globals";
import {
  bindContext,
  currentFrame,
  type ExceptionHandler,
  withExceptionHandler,
} from "../../../src/context/index.js";

const first: ExceptionHandler = () => undefined;
const second: ExceptionHandler = () => undefined;
const handlersNow = (): unknown => currentFrame()?.handlers;

test("the handler holds in the body and what it calls later, and nowhere else", async () => {
  const after = withExceptionHandler(first, async () => {
    await Promise.resolve();
    return handlersNow();
  });
  expect(handlersNow()).toBeUndefined();
  expect(await after).toEqual([first]);
  const bound = withExceptionHandler(first, () => bindContext(handlersNow));
  expect(bound()).toEqual([first]);
});

test("nests, innermost first; code that nests in itself does not make the list longer", () => {
  const nest = (depth: number): unknown =>
    depth === 0
      ? handlersNow()
      : withExceptionHandler(depth % 2 === 0 ? first : second, () => nest(depth - 1));
  expect(nest(2)).toEqual([second, first]);
  expect(nest(101)).toEqual([second, first]);
});

test("gives back what the body returns or throws, a promise as it is", () => {
  const promise = Promise.resolve(1);
  expect(withExceptionHandler(first, () => promise)).toBe(promise);
  expect(withExceptionHandler(first, () => 5)).toBe(5);
  expect(() =>
    withExceptionHandler(first, () => {
      throw new RangeError("from the body");
    }),
  ).toThrow(RangeError);
});

test("a generator takes its steps inside, a lazy thenable is settled inside", async () => {
  const steps = withExceptionHandler(first, function* () {
    yield handlersNow();
  });
  expect(steps.next().value).toEqual([first]);
  const lazy = {
    then(done: (value: unknown) => void) {
      done(handlersNow());
    },
  };
  expect(await withExceptionHandler(first, () => lazy)).toEqual([first]);
});

test("refuses what is no function", () => {
  expect(() => withExceptionHandler("f" as never, () => 1)).toThrow('"handler" must be a function; got "f".');
  expect(() => withExceptionHandler(first, undefined as never)).toThrow('"body" must be a function');
});
