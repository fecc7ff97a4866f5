import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const CONFIGURATION = ["package.json", "rollup.config.mjs", "tsconfig.json", "tsconfig.build.json"];

/** Jest calls it once, before the first test that looks at the built files. Builds them unless they are up to date. */
export default function buildDist() {
  if (isUpToDate()) return;
  execFileSync(process.execPath, [join(ROOT, "node_modules/rollup/dist/bin/rollup"), "-c", "--silent"], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, NODE_OPTIONS: "" },
  });
}

function isUpToDate() {
  const built = join(ROOT, "dist/index.cjs");
  if (!existsSync(built)) return false;
  // The folders count too: their time changes when a file in them goes.
  const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
  const inputs = [...CONFIGURATION, "src", ...sources.map((path) => join("src", path))];
  const builtAt = statSync(built).mtimeMs;
  return inputs.every((path) => statSync(join(ROOT, path)).mtimeMs <= builtAt);
}
