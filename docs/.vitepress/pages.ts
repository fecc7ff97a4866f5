import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder that holds the pages. */
export const DOCS = dirname(dirname(fileURLToPath(import.meta.url)));

export interface Group {
  readonly title: string;
  /** Paths below docs/, without `.md`, in the order of the sidebar. */
  readonly pages: readonly string[];
  /** Starts closed in the sidebar. */
  readonly collapsed?: boolean;
}

/** Every page that people have written, but for the home page. One that is missing here, or there, fails the build. */
export const GROUPS: readonly Group[] = [
  { title: "Start", pages: ["getting-started", "playground"] },
  { title: "Concepts", pages: ["concepts/context", "concepts/lifespan", "concepts/fn", "concepts/budget"] },
  {
    title: "Guides",
    pages: [
      "guides/llm-apis",
      "fetch",
      "guides/several-budgets",
      "guides/tenants",
      "guides/fan-out",
      "guides/cancellation",
      "guides/background-work",
      "guides/progress-and-shutdown",
      "guides/testing",
      "observability",
      "guides/servers",
      "guides/dev-reload",
      "distributed",
    ],
  },
  {
    title: "Coming from",
    pages: [
      "coming-from/cocoindex",
      "coming-from/bottleneck",
      "coming-from/p-queue-and-p-limit",
      "coming-from/effect",
    ],
  },
  { title: "Reference", pages: ["options", "errors", "versions", "changelog"] },
  { title: "Background", pages: ["faq", "comparison", "design", "contributing"] },
  { title: "Decisions", pages: decisions(), collapsed: true },
];

/** What stands in the bar at the top: the first page of a part of the site. */
export const TOP: readonly { readonly text: string; readonly page: string }[] = [
  { text: "Guide", page: "getting-started" },
  { text: "API", page: "api/index" },
  { text: "Errors", page: "errors" },
  { text: "Comparison", page: "comparison" },
];

function decisions(): string[] {
  const numbered = readdirSync(join(DOCS, "adr")).filter((file) => /^\d{4}-.*\.md$/.test(file));
  return ["adr/README", ...numbered.sort().map((file) => `adr/${file.slice(0, -".md".length)}`)];
}

/** The pages in the tree that people have written, as {@link GROUPS} names them. */
export function pagesInTree(): string[] {
  const files = readdirSync(DOCS, { recursive: true, encoding: "utf8" }).map((path) =>
    path.replaceAll("\\", "/"),
  );
  const written = files.filter(
    (path) => path.endsWith(".md") && path !== "index.md" && !/^(api|\.vitepress)\//.test(path),
  );
  return written.map((path) => path.slice(0, -".md".length)).sort();
}

/** How the list and the tree differ, one line for each page. */
export function pageFaults(
  groups: readonly Group[] = GROUPS,
  tree: readonly string[] = pagesInTree(),
): string[] {
  const listed = groups.flatMap(({ pages }) => pages);
  return [
    ...tree.filter((page) => !listed.includes(page)).map((page) => `docs/${page}.md is in no group`),
    ...listed
      .filter((page) => !tree.includes(page))
      .map((page) => `docs/${page}.md is in a group, but not there`),
    ...listed
      .filter((page, index) => listed.indexOf(page) !== index)
      .map((page) => `docs/${page}.md is listed twice`),
  ];
}

/** The Markdown of a page, with what it includes in place. */
export function readPage(page: string): string {
  const file = join(DOCS, `${page}.md`);
  return readFileSync(file, "utf8").replace(/^<!--@include: (\S+)-->$/gm, (_, path: string) =>
    readFileSync(join(dirname(file), path), "utf8").trimEnd(),
  );
}

/** The first heading of a page, as plain text. */
export function titleOf(page: string): string {
  const heading = /^# +(.+)$/m.exec(readPage(page))?.[1];
  if (heading === undefined) throw new Error(`docs/${page}.md has no first heading`);
  return heading.replaceAll("`", "");
}
