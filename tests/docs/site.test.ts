import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { deadLinks } from "../../docs/.vitepress/dead-links.js";
import { writeLlms } from "../../docs/.vitepress/llms.js";
import { GROUPS, pageFaults, pagesInTree, readPage, TOP } from "../../docs/.vitepress/pages.js";
import { readDocument } from "../support/samples-documents.js";
import { parseMarkdown } from "../support/samples-markdown.js";

const listed = GROUPS.flatMap(({ pages }) => pages);

describe("the pages of the site", () => {
  test("are those of the sidebar, each once", () => {
    expect(pageFaults()).toEqual([]);
    expect(pagesInTree()).toEqual(expect.arrayContaining(["getting-started", "adr/README", "changelog"]));
  });

  test.each(listed)("%s has one first heading, and it stands at the top", (page) => {
    const { headings } = parseMarkdown(readPage(page));
    expect(headings.filter(({ level }) => level === 1)).toEqual(headings.slice(0, 1));
    expect(headings).not.toHaveLength(0);
    expect(readPage(page)).toMatch(/^# /);
  });

  test("hold every page that the bar at the top and the home page name", () => {
    const home = [...readDocument("docs/index.md").text.matchAll(/^ +link: \/(.*)$/gm)].map(([, to]) => to);
    expect(home.length).toBeGreaterThan(3);
    const generated = "api/index";
    expect([...listed, generated]).toEqual(expect.arrayContaining([...home, ...TOP.map(({ page }) => page)]));
  });

  test.each([
    ["a page in no group", ["one", "two"], ["docs/two.md is in no group"]],
    ["a page that is not there", [], ["docs/one.md is in a group, but not there"]],
    ["a page in its group", ["one"], []],
  ])("the check itself: %s", (_, tree, faults) => {
    expect(pageFaults([{ title: "Group", pages: ["one"] }], tree)).toEqual(faults);
  });

  test("the check itself: a page that is listed twice", () => {
    expect(pageFaults([{ title: "Group", pages: ["one", "one"] }], ["one"])).toEqual([
      "docs/one.md is listed twice",
    ]);
  });
});

describe("the built site", () => {
  let out: string;
  beforeAll(() => {
    out = mkdtempSync(join(tmpdir(), "tidegate-site-"));
  });
  afterAll(() => {
    rmSync(out, { recursive: true });
  });

  const faultsOf = (link: string): string[] => {
    const site = join(out, "links");
    const pages = { "index.html": `<h1 id="top">T</h1>${link}`, "a/b.html": `<h2 id="two-ü">T</h2>` };
    for (const [file, html] of Object.entries(pages)) {
      mkdirSync(dirname(join(site, file)), { recursive: true });
      writeFileSync(join(site, file), html);
    }
    return deadLinks(site);
  };

  test.each([
    `<a href="/a/b.html">x</a>`,
    `<a class="link" href="./a/b.html#two-%C3%BC">x</a>`,
    `<a href="#top">x</a>`,
    `<a href="/">x</a>`,
    `<a href="https://example.com/gone">x</a>`,
    `<img src="/logo.svg">`,
  ])("may hold %s", (html) => {
    expect(faultsOf(html)).toEqual([]);
  });

  test.each([
    [`<a href="/a/c.html">x</a>`, "/a/c.html"],
    [`<a class="link" href="b.html">x</a>`, "b.html"],
    [`<a href="/a/b.html#two">x</a>`, "/a/b.html#two"],
    [`<a href="#bottom">x</a>`, "#bottom"],
    [`<a href="/a/">x</a>`, "/a/"],
    [`<script async src="https://cdn.example.com/x.js"></script>`, "https://cdn.example.com/x.js"],
    [`<link rel="stylesheet" href="//fonts.example.com/x.css">`, "//fonts.example.com/x.css"],
  ])("must not hold %s", (html, link) => {
    expect(faultsOf(html)).toEqual([`index.html: ${link}`]);
  });

  test("has its pages for language models: a list, all in one, and each as Markdown", () => {
    const site = join(out, "llms");
    mkdirSync(site);
    writeLlms(site, "name", "What it is.");
    const read = (file: string): string => readFileSync(join(site, file), "utf8");
    expect(read("llms.txt")).toMatch(/^# name\n\n> What it is\.\n\n## /);
    for (const page of listed) {
      expect(read("llms.txt")).toContain(`](/${page}.md)\n`);
      expect(read(`${page}.md`)).toBe(readPage(page));
      expect(read("llms-full.txt")).toContain(readPage(page));
    }
    expect(read("changelog.md")).toContain("## Unreleased");
  });
});
