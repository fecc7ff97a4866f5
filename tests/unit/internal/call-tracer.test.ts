import { afterEach, expect, test } from "@jest/globals";
import { type CallTracer, callTracer, traceCalls } from "../../../src/internal/call-tracer.js";
import { registry } from "../../../src/internal/registry.js";

const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
  expect(callTracer()).toBeUndefined();
  expect(registry().callTracer).toBeUndefined();
});

function trace(tracer: CallTracer): () => void {
  const end = traceCalls(tracer);
  ends.push(end);
  return end;
}

/** A tracer that writes down what it stands around. */
function recorder(label: string, log: string[]): CallTracer {
  return {
    around({ kind, name }, body) {
      log.push(`${label} > ${kind} ${name}`);
      const result = body();
      log.push(`${label} <`);
      return result;
    },
  };
}

const CALL = { kind: "call", name: "f" } as const;

test("of several tracers the first is the outermost, and each is called once", () => {
  const log: string[] = [];
  for (const label of ["a", "b", "c"]) trace(recorder(label, log));
  const result = callTracer()?.around(CALL, () => {
    log.push("body");
    return 5;
  });
  expect(result).toBe(5);
  expect(log).toEqual(["a > call f", "b > call f", "c > call f", "body", "c <", "b <", "a <"]);
});

test("each ends by itself; ending twice does nothing, also when the same tracer came twice", () => {
  const log: string[] = [];
  const tracer = recorder("a", log);
  const endFirst = trace(tracer);
  trace(tracer);
  trace(recorder("b", log));
  endFirst();
  endFirst();
  callTracer()?.around(CALL, () => undefined);
  expect(log).toEqual(["a > call f", "b > call f", "b <", "a <"]);
});

test("what the body throws comes through", () => {
  trace(recorder("a", []));
  trace(recorder("b", []));
  const fail = (): never => {
    throw new Error("body");
  };
  expect(() => {
    callTracer()?.around(CALL, fail);
  }).toThrow("body");
});
