import { existsSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { ROOT } from "../support/root.js";
import { documents, readDocument, type TextDocument } from "../support/samples-documents.js";
import { parseMarkdown } from "../support/samples-markdown.js";

describe("links", () => {
  const all = [...documents(), readDocument("CONTRIBUTING.md"), readDocument("CHANGELOG.md")];

  test.each(all)("of $file lead somewhere", (document) => {
    expect(deadLinks(document)).toEqual([]);
  });

  test("every ADR is listed in the index of ADRs", () => {
    const files = all.flatMap(({ file }) => /^docs\/adr\/(\d{4}-.*)$/.exec(file)?.[1] ?? []);
    const listed = parseMarkdown(readDocument("docs/adr/README.md").text).links.map(({ target }) => target);
    expect(listed.filter((target) => /^\d{4}-/.test(target))).toEqual(files);
  });

  test.each([
    ["a file that is not there", "[a](gone.md)", ["docs/made-up.md:1: gone.md"]],
    ["an anchor that is not there", "[a](options.md#gone)", ["docs/made-up.md:1: options.md#gone"]],
    ["an anchor of its own that is not there", "# One\n\n[a](#two)", ["docs/made-up.md:3: #two"]],
    ["an anchor in a file without headings", "[a](../LICENSE#x)", ["docs/made-up.md:1: ../LICENSE#x"]],
    ["a path from the root", "[a](/docs/options.md)", ["docs/made-up.md:1: /docs/options.md"]],
    ["a reference", "[a]: gone.md", ["docs/made-up.md:1: gone.md"]],
    ["an anchor that is there", "# The `one`, twice\n\n# The one twice\n\n[a](#the-one-twice-1)", []],
    ["a file and a folder that are there", "[a](options.md) [b](adr/) [c](../README.md#install)", []],
    ["another site", "[a](https://example.com/gone.md) [b](mailto:a@example.com)", []],
    ["code", "`[a](gone.md)`\n\n```text\n[a](gone.md)\n```\n", []],
  ])("the check itself: %s", (_, text, faults) => {
    expect(deadLinks({ file: "docs/made-up.md", text })).toEqual(faults);
  });
});

/** The relative links that name no file, or no heading in it, as `file:line: target`. */
function deadLinks({ file, text }: TextDocument): string[] {
  return parseMarkdown(text).links.flatMap(({ line, target }) =>
    /^[a-z]+:/.test(target) || isAlive(file, text, target) ? [] : [`${file}:${String(line)}: ${target}`],
  );
}

function isAlive(from: string, text: string, target: string): boolean {
  const [path = "", anchor] = target.split("#", 2);
  if (path.startsWith("/")) return false; // means the root of the site, where the documents are shown
  const to = path === "" ? from : posix.join(posix.dirname(from), path);
  if (path !== "" && !existsSync(join(ROOT, to))) return false;
  if (anchor === undefined) return true;
  if (!to.endsWith(".md") || (path !== "" && !statSync(join(ROOT, to)).isFile())) return false;
  const { headings } = parseMarkdown(path === "" ? text : readDocument(to).text);
  return headings.some((heading) => heading.anchor === anchor);
}
