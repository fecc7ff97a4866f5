import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { Consumer } from "../support/consumer.js";
import { ROOT } from "../support/root.js";

jest.setTimeout(120_000); // packs, on machines that may be busy

/** The programs of the package, without their endings. */
const PROGRAMS = [
  "diagnostics-channel/index",
  "fetch/index",
  "index",
  "opentelemetry/index",
  "rate-limit/index",
  "redis/index",
  "shared/base",
  "shared/context",
  "shared/lifespan",
  "shared/pipeline",
  "shared/rate-limit",
  "testing/index",
];

let consumer: Consumer;
let files: string[];

const below = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort();

beforeAll(async () => {
  consumer = await Consumer.create();
  files = below(consumer.package);
});

afterAll(async () => {
  await consumer.remove();
});

test("beside the declarations the package holds these files, and no others", () => {
  const expected = PROGRAMS.flatMap((program) =>
    ["cjs", "cjs.map", "js", "js.map"].map((ending) => `dist/${program}.${ending}`),
  );
  expect(files.filter((file) => !/\.d\.c?ts$/.test(file))).toEqual(
    ["LICENSE", "README.md", "package.json", ...expected].sort(),
  );
});

test("the declarations are those of the sources, each in both formats", () => {
  const sources = below(join(ROOT, "src")).map((file) => `dist/${file.replace(/\.ts$/, "")}`);
  const declared = (ending: string): string[] =>
    files.filter((file) => file.endsWith(ending)).map((file) => file.slice(0, -ending.length));
  expect(declared(".d.ts")).toEqual(sources);
  expect(declared(".d.cts")).toEqual(sources);
});
