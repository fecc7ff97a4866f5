import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./root.js";

/** Where one entry lies for one way of loading it. */
interface EntryTarget {
  readonly types: string;
  readonly default: string;
}

export interface Entry {
  /** What users write: `tidegate/rate-limit`. */
  readonly name: string;
  readonly targets: Readonly<Record<"module-sync" | "import" | "require", EntryTarget>>;
}

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly main: string;
  readonly types: string;
  readonly exports: Readonly<Record<string, string | Entry["targets"]>>;
  readonly typesVersions: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

export const packageJson = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as PackageJson;

/** The entries that hold code: all but `./package.json`. */
export const entries: readonly Entry[] = Object.entries(packageJson.exports).flatMap(([path, targets]) =>
  typeof targets === "string" ? [] : [{ name: path.replace(".", packageJson.name), targets }],
);

/** Every file that package.json names. */
export const namedFiles: readonly string[] = leaves([
  packageJson.main,
  packageJson.types,
  packageJson.exports,
  packageJson.typesVersions,
]);

function leaves(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [];
}
