import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { DefaultTheme } from "vitepress";
import { DOCS, titleOf } from "./pages.js";

/** The folders that typedoc makes for each kind of names, and what to call them, in the order of the sidebar. */
const KINDS: Readonly<Record<string, string>> = {
  classes: "Classes",
  functions: "Functions",
  variables: "Variables",
  interfaces: "Interfaces",
  "type-aliases": "Types",
};

/**
 * The sidebar of the pages that typedoc has made: one section for each entry of the package, with the names that are
 * described there. Empty before the first `npm run docs`.
 */
export function apiSidebar(): DefaultTheme.SidebarItem[] {
  if (!existsSync(join(DOCS, "api"))) return [];
  const entries = ["api/tidegate", ...foldersIn("api/tidegate").filter(isEntry)];
  return entries.map((folder) => ({
    text: titleOf(`${folder}/index`),
    link: `/${folder}/`,
    collapsed: folder !== "api/tidegate",
    items: Object.entries(KINDS).flatMap(([kind, text]) => {
      const items = namesIn(`${folder}/${kind}`);
      return items.length === 0 ? [] : [{ text, collapsed: kind !== "classes", items }];
    }),
  }));
}

const isEntry = (folder: string): boolean => existsSync(join(DOCS, folder, "index.md"));

function foldersIn(folder: string): string[] {
  const found = readdirSync(join(DOCS, folder), { withFileTypes: true }).filter((file) => file.isDirectory());
  return found.map(({ name }) => `${folder}/${name}`).sort();
}

function namesIn(folder: string): DefaultTheme.SidebarItem[] {
  if (!existsSync(join(DOCS, folder))) return [];
  const names = readdirSync(join(DOCS, folder)).filter((file) => file.endsWith(".md"));
  return names.sort().map((file) => {
    const name = file.slice(0, -".md".length);
    return { text: name, link: `/${folder}/${name}` };
  });
}
