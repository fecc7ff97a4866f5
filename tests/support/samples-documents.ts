import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pagesInTree } from "../../docs/.vitepress/pages.js";
import { ROOT } from "./root.js";

export interface TextDocument {
  /** The path from the root of the repository, with forward slashes. */
  readonly file: string;
  readonly text: string;
}

/** README.md, and every Markdown file below docs/ that people have written. */
export function documents(): TextDocument[] {
  const pages = ["index", ...pagesInTree()];
  return ["README.md", ...pages.map((page) => `docs/${page}.md`)].map(readDocument);
}

/** @param file - The path from the root of the repository. */
export function readDocument(file: string): TextDocument {
  return { file, text: readFileSync(join(ROOT, file), "utf8") };
}
