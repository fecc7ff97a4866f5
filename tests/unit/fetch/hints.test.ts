import { describe, expect, test } from "@jest/globals";
import { readWaitMs } from "../../../src/fetch/hints/hint.js";

const NOW = Date.UTC(2026, 0, 31, 12, 0, 0);
const DAY_MS = 86_400_000;

function read(headers: Record<string, string>): number | undefined {
  return readWaitMs(new Headers(headers), () => NOW);
}

describe("the longest wait of what is empty counts", () => {
  test("of several quotas", () => {
    const headers = {
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "3s",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "2s",
      ratelimit: '"a";r=0;t=1',
    };
    expect(read(headers)).toBe(3_000);
  });

  test("also where it is not said how much is left", () => {
    expect(read({ "x-ratelimit-reset": "30" })).toBe(30_000);
  });
});

describe("values that are no hint", () => {
  test.each([
    "soon",
    "1000abc",
    "",
    "NaN",
    "12, 15",
    "-3",
    "+3",
    "Infinity",
    "1e3",
    "0x10",
    ".5",
    "5.",
    "1 2",
  ])("Retry-After: %p", (value) => {
    expect(read({ "retry-after": value })).toBeUndefined();
  });

  test.each([
    "Wed, 31 Feb 2026 07:28:00 GMT",
    "Wed, 21 Okt 2026 07:28:00 GMT",
    "Wed, 21 Oct 2026 24:00:00 GMT",
    "Wed, 21 Oct 2026 07:60:00 GMT",
    "Wed, 00 Oct 2026 07:00:00 GMT",
    "Wed, 21 Oct 2026 07:28:00 CET",
    "Wed, 21 Oct 2026 07:28:00 GMT, Wed, 21 Oct 2026 07:28:00 GMT",
    "2026-10-21T07:28:00Z",
  ])("Retry-After: %s", (value) => {
    expect(read({ "retry-after": value })).toBeUndefined();
  });

  test.each([
    "soon",
    "6m0",
    "m",
    "1s 2s",
    "2026-13-01T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-01-31T12:00:00",
  ])("x-ratelimit-reset: %s", (value) => {
    expect(read({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": value })).toBeUndefined();
  });

  test.each([
    '"default";t=30',
    '"default";r=-1;t=30',
    '"default";r=x;t=30',
    '"default";r=0;t=30,',
    "remaining=-1, reset=3",
  ])("RateLimit: %s, of which not everything is as it must be", (value) => {
    expect(read({ ratelimit: value })).toBeUndefined();
  });

  test("one that cannot be read leaves room for the next", () => {
    expect(read({ "retry-after-ms": "soon", "retry-after": "3" })).toBe(3_000);
    expect(read({ "retry-after": "soon", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "4" })).toBe(
      4_000,
    );
  });
});

describe("bounds", () => {
  test.each([
    ["retry-after", "9".repeat(400)],
    ["retry-after-ms", "86400001"],
    ["retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"],
    ["x-ratelimit-reset", "9".repeat(400)],
    ["x-ratelimit-reset", `${"9".repeat(400)}h`],
    ["x-ratelimit-reset", "9999-12-31T23:59:59Z"],
    ["ratelimit", '"a";r=0;t=999999999999999'],
  ])("%s: %s is a day", (name, value) => {
    expect(read({ [name]: value })).toBe(DAY_MS);
  });

  test.each([
    ["retry-after", "0"],
    ["retry-after", "Sat, 31 Jan 2026 11:59:50 GMT"],
    ["x-ratelimit-reset", "1712918331"],
    ["x-ratelimit-reset", "1712918331000"],
    ["x-ratelimit-reset", "2026-01-31T11:59:50+00:00"],
    ["ratelimit", '"a";r=0;t=-0'],
  ])("%s: %s is no wait", (name, value) => {
    expect(read({ [name]: value })).toBe(0);
  });

  test("long runs of spaces take no long time to read", () => {
    const started = performance.now();
    expect(read({ ratelimit: `"a"${" ".repeat(200_000)}b` })).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe("a moment is read by the clock of the server", () => {
  test("a leap second is the second after it", () => {
    expect(
      read({ date: "Sat, 31 Dec 2016 23:59:59 GMT", "retry-after": "Sat, 31 Dec 2016 23:59:60 GMT" }),
    ).toBe(1_000);
  });

  test.each(["Sunday, 01-Feb-26 12:00:05 GMT", "Sun Feb  1 12:00:05 2026"])("in the old form %s", (at) => {
    expect(read({ date: "Sun, 01 Feb 2026 12:00:00 GMT", "retry-after": at })).toBe(5_000);
  });

  test.each(["2026-01-31T14:00:07.5+02:00", "2026-01-31t12:00:07.5z", "2026-01-31 06:30:07.5-05:30"])(
    "with an offset, %s",
    (at) => {
      expect(read({ "anthropic-ratelimit-tokens-reset": at })).toBe(7_500);
    },
  );
});
