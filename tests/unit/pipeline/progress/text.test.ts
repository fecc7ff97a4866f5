import { describe, expect, test } from "@jest/globals";
import {
  cleanName,
  countText,
  cut,
  durationText,
  rateText,
  widthOf,
} from "../../../../src/pipeline/progress/text.js";

test.each([
  ["fetchOne", "fetchOne"],
  ["翻訳 of 🎉", "翻訳 of 🎉"],
  ["a\x1b[2Jb\r\n\tc", "a[2Jbc"],
  ["right\u202Eto\u2066left", "righttoleft"],
  ["zero\u200Bwidth\uFEFF", "zerowidth"],
  ["line\u2028and\u2029paragraph", "lineandparagraph"],
  ["half \uD83C", "half "],
  ["\x9B31m", "31m"],
  ["", "(unnamed)"],
  ["\n", "(unnamed)"],
])("cleanName(%j)", (name, clean) => {
  expect(cleanName(name)).toBe(clean);
});

test.each([
  ["", 0],
  ["fetchOne", 8],
  ["翻訳する", 8],
  ["한국", 4],
  ["ｆｕｌｌ", 8],
  ["🎉", 2],
  ["⚡x", 3],
  ["é", 1],
  ["e\u0301", 1],
  ["𠮷", 2],
  ["…", 1],
  ["█░", 2],
  ["αβ", 2],
])("widthOf(%j)", (text, width) => {
  expect(widthOf(text)).toBe(width);
});

test.each([
  ["fetchOne", 8, "fetchOne"],
  ["fetchOne", 7, "fetchO…"],
  ["fetchOne", 1, "…"],
  ["翻訳する", 8, "翻訳する"],
  ["翻訳する", 7, "翻訳す…"],
  ["翻訳する", 6, "翻訳…"],
  ["🎉🎉", 3, "🎉…"],
])("cut(%j, %p)", (text, columns, expected) => {
  expect(cut(text, columns)).toBe(expected);
  expect(widthOf(cut(text, columns))).toBeLessThanOrEqual(columns);
});

test.each([
  [0, "0"],
  [12_345, "12345"],
  [NaN, "?"],
  [Infinity, "?"],
  [undefined, "?"],
])("countText(%p)", (n, text) => {
  expect(countText(n as number)).toBe(text);
});

test.each([
  [50, "50/s"],
  [1, "1/s"],
  [9.96, "10/s"],
  [8.333, "8.3/s"],
  [12.6, "13/s"],
  [5_000_000, "5000000/s"],
  [0.5, "30/min"],
  [1 / 60, "1/min"],
  [0.1, "6/min"],
  [1 / 120, "30/h"],
  [1 / 86_400, "0/h"],
  [0, "0/s"],
])("rateText(%p)", (perSecond, text) => {
  expect(rateText(perSecond)).toBe(text);
});

describe("durationText", () => {
  const [s, min, h, d] = [1_000, 60_000, 3_600_000, 86_400_000];
  test.each([
    [0, "0 s"],
    [40, "0 s"],
    [350, "0.4 s"],
    [9.9 * s, "9.9 s"],
    [12.3 * s, "12 s"],
    [99 * s, "99 s"],
    [108 * s, "1.8 min"],
    [12 * min, "12 min"],
    [99 * min, "99 min"],
    [100 * min, "1.7 h"],
    [30 * h, "30 h"],
    [2 * d, "2 d"],
    [400 * d, "400 d"],
    [NaN, "? s"],
    [Infinity, "? d"],
  ])("%p ms", (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });
});
