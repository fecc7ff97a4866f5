import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

export interface Chunk {
  readonly file: string;
  readonly text: string;
}

/** The Markdown files below `folder`, cut into about `count` pieces of equal size, none across two files. */
export async function markdownChunks(folder: string, count: number): Promise<Chunk[]> {
  const files = await markdownFiles(folder);
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  const size = Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / count);
  return texts.flatMap((text, index) =>
    Array.from({ length: Math.ceil(text.length / size) }, (_, piece) => ({
      file: files[index] as string,
      text: text.slice(piece * size, (piece + 1) * size),
    })),
  );
}

async function markdownFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return isOwn(entry.name) ? await markdownFiles(path) : [];
      return entry.name.endsWith(".md") ? [path] : [];
    }),
  );
  return found.flat().sort();
}

function isOwn(folder: string): boolean {
  return !folder.startsWith(".") && !["node_modules", "dist", "coverage"].includes(folder);
}
