import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readWaitMs } from "../../../src/fetch/hints/hint.js";
import { httpDates, MONTHS, pad, timestamp } from "./support/dates.js";

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 0, 31, 12, 0, 0);

const seconds = fc.integer({ min: 0, max: 86_400 });
const offset = fc.integer({ min: -1_439, max: 1_439 });

const anyMoment = fc.integer({ min: 0, max: 2 ** 31 }).map((s) => s * 1_000);
const noSuchDate = fc
  .tuple(fc.nat(99), fc.constantFrom(...MONTHS, "Foo"), fc.nat(9_999), fc.nat(99), fc.nat(99), fc.nat(99))
  .map(
    ([day, month, year, h, m, s]) =>
      `Mon, ${pad(day)} ${month} ${pad(year, 4)} ${pad(h)}:${pad(m)}:${pad(s)} GMT`,
  );
const noSuchTimestamp = fc
  .tuple(fc.nat(9_999), fc.nat(99), fc.nat(99), fc.nat(99), fc.nat(99), fc.nat(99), fc.nat(99))
  .map(
    ([year, month, day, h, m, s, zone]) =>
      `${pad(year, 4)}-${pad(month)}-${pad(day)}T${pad(h)}:${pad(m)}:${pad(s)}.${String(s)}+${pad(zone)}:${pad(m)}`,
  );
const duration = fc
  .array(
    fc.tuple(fc.double({ min: 0, noNaN: true }), fc.constantFrom("h", "m", "s", "ms", "us", "µs", "ns", "d")),
  )
  .map((parts) => parts.map(([n, unit]) => `${String(n)}${unit}`).join(""));
const structured = fc
  .array(
    fc.constantFrom(
      ...[
        '"default"',
        '"a b"',
        "limit",
        "remaining",
        "reset",
        "r",
        "t",
        "q",
        "w",
        "pk",
        "=",
        ";",
        ",",
        " ",
        "\t",
      ],
      ...[
        "0",
        "1",
        "-1",
        "30",
        "999999999999999",
        "1e3",
        "0.5",
        "?1",
        ":cHM=:",
        "(",
        ")",
        "@1",
        "%",
        '"',
        "\\",
      ],
    ),
  )
  .map((parts) => parts.join(""));

/** What servers send, what they should not, and what nobody should. */
const value = fc.oneof(
  fc.integer().map(String),
  fc.double().map(String),
  fc.nat(400).map((digits) => "9".repeat(digits)),
  fc.constantFrom(
    "NaN",
    "Infinity",
    "-Infinity",
    "-0",
    "+5",
    "12, 15",
    "",
    " ",
    "0x10",
    "1e308",
    "1_000",
    "١٢",
  ),
  anyMoment.chain((at) => fc.constantFrom(...httpDates(at))),
  fc.tuple(anyMoment, offset).map(([at, minutes]) => timestamp(at, minutes)),
  ...[noSuchDate, noSuchTimestamp, duration, structured],
  fc.string(),
  fc.string({ unit: "binary" }),
  // All that a header can hold: bytes, control characters among them.
  fc.string({ unit: fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code)) }),
);

const part = fc.constantFrom(
  "requests",
  "tokens",
  "input-tokens",
  "after",
  "unified-5h",
  "a.b",
  "remaining",
  "reset",
);
const name = fc.oneof(
  fc.constantFrom(
    "retry-after",
    "Retry-After",
    "retry-after-ms",
    "date",
    "age",
    "ratelimit",
    "ratelimit-policy",
  ),
  fc
    .tuple(
      fc.constantFrom("x-", "anthropic-", ""),
      fc.constantFrom("remaining", "reset", "limit"),
      part,
      fc.nat(2),
    )
    .map(([prefix, what, about, form]) => {
      if (form === 0) return `${prefix}ratelimit-${what}`;
      return form === 1 ? `${prefix}ratelimit-${what}-${about}` : `${prefix}ratelimit-${about}-${what}`;
    }),
);

function headersOf(fields: readonly (readonly [string, string])[]): Headers {
  const headers = new Headers();
  for (const [field, content] of fields) {
    try {
      // Not set: a field that comes twice is both, with a comma between them.
      headers.append(field, content);
    } catch {
      continue; // no header can hold it
    }
  }
  return headers;
}

function read(headers: Record<string, string>): number | undefined {
  return readWaitMs(new Headers(headers), () => NOW);
}

test("whatever the headers are, the wait is unknown or from 0 to a day", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 8 }), fc.integer(), (fields, now) => {
      const waitMs = readWaitMs(headersOf(fields), () => now);
      if (waitMs === undefined) return;
      expect(Number.isFinite(waitMs)).toBe(true);
      expect(waitMs).toBeGreaterThanOrEqual(0);
      expect(waitMs).toBeLessThanOrEqual(DAY_MS);
    }),
    { numRuns: 5_000 },
  );
});

test("nearly everything that is generated can stand in a header", () => {
  const samples = fc.sample(value, { numRuns: 1_000, seed: 1 });
  const held = samples.filter((content) => [...headersOf([["date", content]])].length === 1);
  expect(held.length).toBeGreaterThan(600);
});

describe("what is written is what is read", () => {
  test("seconds and milliseconds, with fractions", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: DAY_MS }), (ms) => {
        expect(read({ "retry-after-ms": String(ms) })).toBe(ms);
        expect(read({ "retry-after": String(ms / 1_000) })).toBeCloseTo(ms, 6);
        expect(read({ "x-ratelimit-reset-after": String(ms / 1_000) })).toBeCloseTo(ms, 6);
      }),
    );
  });

  test("dates of HTTP in all forms, by the clock of the server", () => {
    // Years that two digits can tell.
    const at = fc.integer({ min: Date.UTC(2000, 0, 1) / 1_000, max: Date.UTC(2075, 0, 1) / 1_000 });
    fc.assert(
      fc.property(at, seconds, fc.nat(2), fc.nat(2), (start, wait, one, other) => {
        const date = httpDates(start * 1_000)[one] ?? "";
        const retryAfter = httpDates((start + wait) * 1_000)[other] ?? "";
        expect(read({ date, "retry-after": retryAfter })).toBe(wait * 1_000);
      }),
    );
  });

  test("timestamps of RFC 3339 at any offset", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: DAY_MS }), offset, (ms, minutes) => {
        const reset = timestamp(NOW + ms, minutes);
        expect(read({ "anthropic-ratelimit-tokens-reset": reset })).toBeCloseTo(ms, 3);
      }),
    );
  });

  test("moments in seconds and in milliseconds", () => {
    fc.assert(
      fc.property(seconds, (wait) => {
        const at = NOW / 1_000 + wait;
        expect(read({ "x-ratelimit-reset": String(at) })).toBe(wait * 1_000);
        expect(read({ "x-ratelimit-reset": String(at * 1_000) })).toBe(wait * 1_000);
      }),
    );
  });

  test("durations as Go prints them", () => {
    fc.assert(
      fc.property(fc.nat(23), fc.nat(59), fc.nat(59_999), (hours, minutes, ms) => {
        const text = `${String(hours)}h${String(minutes)}m${String(ms / 1_000)}s`;
        const expected = (hours * 60 + minutes) * 60_000 + ms;
        expect(read({ "x-ratelimit-reset-requests": text })).toBeCloseTo(expected, 6);
      }),
    );
  });

  test("the newest drafts and the seventh", () => {
    fc.assert(
      fc.property(seconds, fc.nat(3), (t, left) => {
        const waitMs = left === 0 ? t * 1_000 : undefined;
        expect(read({ ratelimit: `"a";r=${String(left)};t=${String(t)}` })).toBe(waitMs);
        expect(read({ ratelimit: `limit=9, remaining=${String(left)}, reset=${String(t)}` })).toBe(waitMs);
      }),
    );
  });
});

test("a date that does not exist is no date", () => {
  fc.assert(
    fc.property(noSuchDate, (text) => {
      const waitMs = read({ "retry-after": text });
      const at = new Date(text);
      const exists = !Number.isNaN(at.getTime()) && text.includes(` ${pad(at.getUTCDate())} `);
      // An engine reads a few more dates than there are, 24:00:00 for one; none that is read here does it refuse.
      if (waitMs !== undefined && !text.includes(":60 GMT")) expect(exists).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
