import { describe, expect, test } from "@jest/globals";
import { documents } from "../support/samples-documents.js";
import { parseMarkdown } from "../support/samples-markdown.js";

/** How far down a page a reader may have to look for its first program. */
const EARLY = 25;

const pages = documents().filter(({ file }) => /^docs\/(concepts|guides|coming-from)\//.test(file));

test("there are pages of each kind", () => {
  const kinds = new Set(pages.map(({ file }) => file.split("/")[1]));
  expect([...kinds].sort()).toEqual(["coming-from", "concepts", "guides"]);
});

describe.each(pages)("$file", ({ file, text }) => {
  test("says first what the reader can do after it", () => {
    expect(text).toMatch(/^# .+\n\nAfter this page .+/);
  });

  test("has a program early", () => {
    const first = parseMarkdown(text).blocks.find(
      ({ language }) => file.includes("coming-from/") || language === "ts",
    );
    expect(first?.line).toBeLessThanOrEqual(EARLY);
  });

  test("ends with one to three links", () => {
    const last = text.trimEnd().split("\n").at(-1) ?? "";
    expect(last).toMatch(/^Next: (\[[^\]]+\]\([^)]+\)(, |\.$)){1,3}$/);
  });
});
