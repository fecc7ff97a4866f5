import { describe, expect, test } from "@jest/globals";
import { mostLeft, outlookOf } from "../../../../src/pipeline/progress/outlook.js";
import { fnStats, limiter } from "./support/reports.js";

describe("mostLeft", () => {
  test("by the calls that have not ended", () => {
    const [a, b] = [
      fnStats("a", { done: 50, expected: 100 }),
      fnStats("b", { done: 5, failed: 4, expected: 60 }),
    ];
    expect(mostLeft([a, b])).toBe(b);
  });

  test("where nothing is known or left there is none", () => {
    expect(mostLeft([])).toBeUndefined();
    expect(
      mostLeft([fnStats("a", { done: 5 }), fnStats("b", { done: 5, failed: 5, expected: 10 })]),
    ).toBeUndefined();
    expect(mostLeft([fnStats("a", { expected: NaN }), fnStats("b", { expected: Infinity })])).toBeUndefined();
  });
});

describe("the time left", () => {
  const leftOf = (...args: Parameters<typeof outlookOf>): number | undefined => outlookOf(...args)?.leftMs;

  test("what is left to do, by the tokens of a call so far, over the rate", () => {
    const work = fnStats("f", { done: 80, failed: 20, expected: 1_100 });
    expect(leftOf(limiter("l", {}, { grantedTokens: 300 }), work)).toBe(60_000); // 1,000 calls of 3 at 50/s
  });

  test("less what is available; a debt comes on top", () => {
    const work = fnStats("f", { done: 100, expected: 200 });
    expect(leftOf(limiter("l", {}, { grantedTokens: 100, available: 25 }), work)).toBe(1_500);
    expect(leftOf(limiter("l", {}, { grantedTokens: 100, available: -50 }), work)).toBe(3_000);
  });

  test("calls in flight that do not wait have drawn already", () => {
    // 250 granted, of which 100 are in flight: 750 calls still draw.
    const work = fnStats("f", { done: 150, inFlight: 400, expected: 1_000 });
    expect(leftOf(limiter("l", { queued: 300, granted: 250 }, { grantedTokens: 250 }), work)).toBe(15_000);
  });

  test("calls in flight that wait for a slot of their function have not drawn", () => {
    const work = fnStats("f", { done: 2, inFlight: 58, expected: 60 });
    expect(leftOf(limiter("l", { granted: 10 }, { grantedTokens: 10 }), work)).toBe(1_000);
  });

  test("one token may be for many calls", () => {
    const work = fnStats("f", { done: 100, expected: 200 });
    expect(leftOf(limiter("l", { granted: 5 }, { grantedTokens: 5 }), work)).toBe(100);
  });

  test("others may wait in the same line", () => {
    const work = fnStats("f", { done: 100, inFlight: 5, expected: 200 });
    expect(leftOf(limiter("l", { queued: 300 }, { grantedTokens: 100 }), work)).toBe(2_000);
  });

  test("a pause is added", () => {
    const work = fnStats("f", { done: 100, expected: 200 });
    expect(leftOf(limiter("l", { pausedForMs: 700 }, { grantedTokens: 100 }), work)).toBe(2_700);
  });

  test.each([
    ["no function is known to have anything left", undefined, {}],
    ["none has drawn yet", fnStats("f", { expected: 10 }), { grantedTokens: 0 }],
    ["the tokens are there", fnStats("f", { done: 1, expected: 10 }), { grantedTokens: 1, available: 9 }],
    [
      "all have drawn",
      fnStats("f", { done: 5, inFlight: 5, expected: 10 }),
      { grantedTokens: 10, available: 0 },
    ],
    ["the tokens are none", fnStats("f", { done: 1, expected: 10 }), { grantedTokens: NaN }],
    ["the tokens are endless", fnStats("f", { done: 1, expected: 10 }), { grantedTokens: Infinity }],
  ])("is not known when %s", (_, work, dimension) => {
    const outlook = outlookOf(limiter("l", { granted: 10 }, dimension), work);
    expect(outlook).toBeDefined();
    expect(outlook?.leftMs).toBeUndefined();
  });

  test("a pause that is none leaves it unknown", () => {
    const work = fnStats("f", { done: 100, expected: 200 });
    expect(leftOf(limiter("l", { pausedForMs: NaN }, { grantedTokens: 100 }), work)).toBeUndefined();
  });
});

describe("the dimension that is short", () => {
  const requests = { name: "requests", maxRowsPerSecond: 10, grantedTokens: 100 };
  const tokens = { name: "tokens", maxRowsPerSecond: 500, grantedTokens: 100_000 };
  const work = fnStats("f", { done: 100, expected: 200 });

  test("is the one that needs longest, whatever the order", () => {
    for (const dimensions of [
      [requests, tokens],
      [tokens, requests],
    ]) {
      const outlook = outlookOf(limiter("l", {}, ...dimensions), work);
      expect(outlook?.dimension.name).toBe("tokens"); // 100,000 at 500/s; 100 requests at 10/s
      expect(outlook?.leftMs).toBe(200_000);
    }
  });

  test("goes by the line where no time is known", () => {
    const [one, two] = [
      { ...requests, queuedTokens: 30 },
      { ...tokens, queuedTokens: 1_000 },
    ];
    for (const dimensions of [
      [one, two],
      [two, one],
    ]) {
      const outlook = outlookOf(limiter("l", {}, ...dimensions), undefined);
      expect(outlook?.dimension.name).toBe("requests");
      expect(outlook?.leftMs).toBeUndefined();
    }
  });

  test.each([Infinity, NaN, 0])("a rate of %p limits nothing", (maxRowsPerSecond) => {
    expect(outlookOf(limiter("l", {}, { maxRowsPerSecond }), work)).toBeUndefined();
    const mixed = limiter("l", {}, { ...tokens, maxRowsPerSecond }, requests);
    expect(outlookOf(mixed, work)?.dimension.name).toBe("requests");
  });
});
