import { fileURLToPath } from "node:url";
import { budgets } from "../../scripts/budgets.mjs";
import { bundledSize } from "../../scripts/bundled-size.mjs";
import { outputOf } from "../support/node-process.mjs";

const IMPORT_ONCE = fileURLToPath(new URL("import-once.mjs", import.meta.url));

/** The row that measures the import of a library, for a group. */
export function importRow(group) {
  return {
    of: group,
    title: `Cold import: ${group}`,
    how: "`import()` of the file that the package names for Node.js, in a process that has loaded nothing else.",
    rounds: 9,
    metrics: [{ key: "ms", label: "ms", better: "less", digits: 1 }],
    async measureFromOutside({ entry }) {
      return { ms: Number(await outputOf(IMPORT_ONCE, [entry])) };
    },
  };
}

/** The row that measures what a library adds to a bundle, for a group. */
export function sizeRow(group) {
  return {
    of: group,
    title: `Size in a bundle: ${group}`,
    how: "What the adapter uses, bundled by esbuild, minified and gzipped, in bytes.",
    rounds: 1,
    metrics: [{ key: "bytes", label: "bytes", better: "less" }],
    variants: budgets
      .filter(({ name }) => name.startsWith("all of"))
      .map(({ name, program }) => ({
        name: `tidegate: ${name}`,
        program,
        file: import.meta.url,
        cannot: {},
      })),
    async measureFromOutside({ file, program }) {
      return { bytes: await bundledSize(program, "node", fileURLToPath(new URL(".", file))) };
    },
  };
}
