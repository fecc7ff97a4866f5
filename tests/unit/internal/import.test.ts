import { afterEach, expect, jest, test } from "@jest/globals";
import { registry } from "../../../src/internal/registry.js";

const KEY = Symbol.for("tidegate/registry/v1");

afterEach(() => {
  jest.restoreAllMocks();
});

test("importing an entry does nothing: no timer, no reading of a clock, no random number, no registry", async () => {
  const calls = [
    jest.spyOn(globalThis, "setTimeout"),
    jest.spyOn(globalThis, "setInterval"),
    jest.spyOn(globalThis, "setImmediate"),
    jest.spyOn(performance, "now"),
    jest.spyOn(Date, "now"),
    jest.spyOn(Math, "random"),
    jest.spyOn(process, "on"),
  ];
  // Read before anything that is awaited: jest itself may look at the time.
  const counts = (): number[] => calls.map((spy) => spy.mock.calls.length);
  const before = counts();
  await import("../../../src/rate-limit/index.js");
  await import("../../../src/testing/index.js");
  await import("../../../src/opentelemetry/index.js");
  await import("../../../src/diagnostics-channel/index.js");
  await import("../../../src/redis/index.js");
  expect(counts()).toEqual(before);
  expect(KEY in globalThis).toBe(false);
});

test("the registry is made at the first call, once, and cannot be replaced", () => {
  const shared = registry();
  expect((globalThis as Record<symbol, unknown>)[KEY]).toBe(shared);
  expect(registry()).toBe(shared);
  expect(shared).toMatchObject({
    storage: undefined,
    ambientScope: undefined,
    limiterObserver: undefined,
    callTracer: undefined,
  });
  expect(Reflect.set(globalThis, KEY, {})).toBe(false);
  expect(registry()).toBe(shared);
});
