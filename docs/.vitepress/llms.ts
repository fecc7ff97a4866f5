import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { GROUPS, readPage, titleOf } from "./pages.js";

/**
 * Writes what language models read: each page as Markdown beside its HTML, `llms.txt`, which lists them, and
 * `llms-full.txt`, which holds them all.
 *
 * @param out - The folder of the built site.
 */
export function writeLlms(out: string, title: string, description: string): void {
  const head = `# ${title}\n\n> ${description}\n`;
  const lists = GROUPS.map(({ title: group, pages }) => {
    const lines = pages.map((page) => `- [${titleOf(page)}](/${page}.md)`);
    return `## ${group}\n\n${lines.join("\n")}\n`;
  });
  const pages = GROUPS.flatMap((group) => group.pages);
  for (const page of pages) {
    mkdirSync(join(out, dirname(page)), { recursive: true });
    writeFileSync(join(out, `${page}.md`), readPage(page));
  }
  writeFileSync(join(out, "llms.txt"), [head, ...lists].join("\n"));
  writeFileSync(join(out, "llms-full.txt"), [head, ...pages.map(readPage)].join("\n"));
}
