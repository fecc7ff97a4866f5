/**
 * Holds what would be published against what users need: its files, its declarations for every kind of resolution,
 * and its size. Run it after a build. Ends with 1 and one line per fault when something is wrong.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { budgets } from "./budgets.mjs";
import { bundledSize } from "./bundled-size.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** What may stand in the tarball beside `dist`, and must. */
const BESIDE_DIST = ["LICENSE", "README.md", "package.json"];
const IN_DIST = /^dist\/.*\.(js|cjs|d\.ts|d\.cts|js\.map|cjs\.map)$/;

const folder = mkdtempSync(join(tmpdir(), "tidegate-package-"));
try {
  const faults = await findFaults();
  for (const fault of faults) console.error(`package: ${fault}`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @returns {Promise<string[]>} */
async function findFaults() {
  const missing = missingFiles();
  // A package without declarations passes the linters below, so there is no point in asking them.
  if (missing.length > 0) return missing.map((file) => `${file} is missing: run npm run build`);
  const { tarball, files } = pack();
  return [
    ...lockFileFaults(),
    ...contentFaults(files),
    ...linterFaults("publint", ["run", "--strict", tarball]),
    ...linterFaults("attw", [tarball]),
    ...(await sizeFaults(tarball)),
  ];
}

/** Files that package.json promises and that are not there. */
function missingFiles() {
  const { main, types, exports, typesVersions } = readJson("package.json");
  const promised = new Set(leaves([main, types, exports, typesVersions]));
  return [...promised].filter((file) => !existsSync(join(ROOT, file)));
}

/** The lock file must work with any registry. */
function lockFileFaults() {
  const lock = readFileSync(join(ROOT, "package-lock.json"), "utf8");
  return lock.includes('"resolved"') ? ["package-lock.json records download addresses"] : [];
}

/** @returns {{ tarball: string, files: string[] }} */
function pack() {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd: ROOT, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm pack failed:\n${stderr}`);
  const [{ filename, files }] = Object.values(JSON.parse(stdout));
  return { tarball: join(folder, filename), files: files.map(({ path }) => path) };
}

/** @param {string[]} files */
function contentFaults(files) {
  const strangers = files.filter((file) => !IN_DIST.test(file) && !BESIDE_DIST.includes(file));
  const absent = BESIDE_DIST.filter((file) => !files.includes(file));
  return [
    ...strangers.map((file) => `${file} would be published`),
    ...absent.map((file) => `${file} would not be published`),
  ];
}

/**
 * Runs an installed linter; what it says is shown only when it finds something.
 *
 * @param {string} name
 * @param {string[]} args
 */
function linterFaults(name, args) {
  const { status, stdout, stderr } = spawnSync(join(ROOT, "node_modules/.bin", name), args, {
    encoding: "utf8",
  });
  if (status === 0) return [];
  console.error(stdout + stderr);
  return [`${name} finds faults, see above`];
}

/** @param {string} tarball */
async function sizeFaults(tarball) {
  const target = join(folder, "node_modules/tidegate");
  mkdirSync(target, { recursive: true });
  const { status } = spawnSync("tar", ["-xzf", tarball, "--strip-components=1", "-C", target]);
  if (status !== 0) throw new Error("tar failed");

  const faults = [];
  const rows = [];
  for (const { name, program, platform, maxBytes } of budgets) {
    const bytes = await bundledSize(program, platform, folder);
    rows.push([name, bytes, maxBytes]);
    if (bytes > maxBytes) faults.push(`${name}: ${bytes} bytes are above the budget of ${maxBytes}`);
  }
  printTable(rows);
  return faults;
}

/** @param {[string, number, number][]} rows */
function printTable(rows) {
  const width = Math.max(...rows.map(([name]) => name.length));
  const line = (name, bytes, budget) =>
    `${String(name).padEnd(width)}  ${String(bytes).padStart(6)}  ${String(budget).padStart(6)}`;
  console.log([line("gzipped bytes", "size", "budget"), ...rows.map((row) => line(...row))].join("\n"));
}

/** @param {string} path */
function readJson(path) {
  return JSON.parse(readFileSync(join(ROOT, path), "utf8"));
}

/**
 * The strings in a JSON value.
 *
 * @param {unknown} value
 * @returns {string[]}
 */
function leaves(value) {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [];
}
