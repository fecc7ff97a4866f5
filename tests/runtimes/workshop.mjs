import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PACKAGES } from "./versions.mjs";

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Kept between two runs: what it holds takes a minute to fetch. */
export const WORKSHOP = join(ROOT, "node_modules/.cache/tidegate-runtimes");

/** Fetches what is missing there, and installs the package as npm would publish it now. */
export function openWorkshop() {
  mkdirSync(WORKSHOP, { recursive: true });
  // Bun would look for the package in the sources, where the one of the repository sends it.
  writeFileSync(join(WORKSHOP, "tsconfig.json"), "{}");
  const manifest = `${JSON.stringify({ private: true, type: "module", dependencies: PACKAGES }, null, 2)}\n`;
  const file = join(WORKSHOP, "package.json");
  const isFetched = existsSync(file) && readFileSync(file, "utf8") === manifest;
  if (!isFetched) {
    console.log("Fetching the runtimes and compilers; they are kept for the next run.");
    rmSync(join(WORKSHOP, "node_modules"), { recursive: true, force: true });
    npm(
      "install",
      "--prefix",
      WORKSHOP,
      ...Object.entries(PACKAGES).map(([name, spec]) => `${name}@${spec}`),
    );
    writeFileSync(file, manifest);
  }
  const packed = JSON.parse(npm("pack", "--json", "--ignore-scripts", "--pack-destination", WORKSHOP, ROOT));
  const [{ filename }] = Object.values(packed);
  const installed = join(WORKSHOP, "node_modules/tidegate");
  rmSync(installed, { recursive: true, force: true });
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(WORKSHOP, filename), "-C", installed, "--strip-components=1"]);
}

function npm(...args) {
  return execFileSync("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: WORKSHOP,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
}
