import { afterEach, expect, jest, test } from "@jest/globals";
import { warn } from "../../../src/internal/warn.js";

afterEach(() => {
  jest.restoreAllMocks();
});

test("warns through the process, with type and code", () => {
  const emit = jest.spyOn(process, "emitWarning").mockReturnValue();
  warn("mind the gap", "TIDEGATE_GAP");
  expect(emit.mock.calls).toEqual([["mind the gap", { type: "TidegateWarning", code: "TIDEGATE_GAP" }]]);
});

test.each([
  ["without a process", undefined],
  ["with a process that cannot warn", {}],
])("%s it warns on the console", (_where, host) => {
  const warning = jest.spyOn(console, "warn").mockReturnValue();
  const before = Object.getOwnPropertyDescriptor(globalThis, "process") as PropertyDescriptor;
  Object.defineProperty(globalThis, "process", { value: host, configurable: true, writable: true });
  try {
    warn("mind the gap", "TIDEGATE_GAP");
  } finally {
    Object.defineProperty(globalThis, "process", before);
  }
  expect(warning.mock.calls).toEqual([["TidegateWarning [TIDEGATE_GAP]: mind the gap"]]);
});
