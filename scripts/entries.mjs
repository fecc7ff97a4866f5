import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** What package.json exports: the names of the entries, "tidegate" the first, and where their declarations are. */
export function entries() {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  return Object.entries(exports).flatMap(([path, conditions]) =>
    typeof conditions === "string"
      ? []
      : [
          {
            name: path === "." ? "tidegate" : path.slice(2),
            declarations: join(ROOT, conditions.import.types),
          },
        ],
  );
}
