import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./root.js";

export interface TextDocument {
  /** The path from the root of the repository, with forward slashes. */
  readonly file: string;
  readonly text: string;
}

/** README.md, and every Markdown file below docs/. */
export function documents(): TextDocument[] {
  const below = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .map((path) => `docs/${path.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".md"))
    .sort();
  return ["README.md", ...below].map(readDocument);
}

/** @param file - The path from the root of the repository. */
export function readDocument(file: string): TextDocument {
  return { file, text: readFileSync(join(ROOT, file), "utf8") };
}
