import { expect, jest, test } from "@jest/globals";
import { followSignal } from "../../../src/cancellation/index.js";

test("calls once, with the reason", () => {
  const controller = new AbortController();
  const onAbort = jest.fn();
  followSignal(controller.signal, onAbort);
  expect(onAbort).not.toHaveBeenCalled();
  controller.abort("over");
  controller.abort("again");
  controller.signal.dispatchEvent(new Event("abort"));
  expect(onAbort.mock.calls).toEqual([["over"]]);
});

test("calls at once when the signal is aborted already, and adds no listener", () => {
  const signal = AbortSignal.abort("over");
  const add = jest.spyOn(signal, "addEventListener");
  const onAbort = jest.fn();
  const stop = followSignal(signal, onAbort);
  expect(onAbort.mock.calls).toEqual([["over"]]);
  expect(add).not.toHaveBeenCalled();
  stop();
});

test("stops when told, and leaves no listener", () => {
  const controller = new AbortController();
  const [add, remove] = [
    jest.spyOn(controller.signal, "addEventListener"),
    jest.spyOn(controller.signal, "removeEventListener"),
  ];
  const onAbort = jest.fn();
  const stop = followSignal(controller.signal, onAbort);
  stop();
  stop();
  controller.abort("over");
  expect(onAbort).not.toHaveBeenCalled();
  expect(remove.mock.calls[0]?.slice(0, 2)).toEqual(add.mock.calls[0]?.slice(0, 2));
});
