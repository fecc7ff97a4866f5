import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { layoutFaults, type LayoutRules } from "../support/layout.js";
import { ROOT } from "../support/root.js";

const BOTTOM = ["errors", "clock", "internal", "cancellation"];

/** The directions of the package: who may know whom. */
const RULES: LayoutRules = {
  mayImport: {
    errors: BOTTOM,
    clock: BOTTOM,
    internal: BOTTOM,
    cancellation: BOTTOM,
    "rate-limit": BOTTOM,
    context: BOTTOM,
    lifespan: [...BOTTOM, "rate-limit", "context"],
    pipeline: [...BOTTOM, "rate-limit", "context", "lifespan"],
    fetch: [...BOTTOM, "rate-limit", "context", "lifespan"],
    opentelemetry: [...BOTTOM, "context"],
    "diagnostics-channel": BOTTOM,
    redis: [...BOTTOM, "rate-limit"],
    testing: ["clock", "internal"],
    index: [...BOTTOM, "rate-limit", "context", "lifespan", "pipeline"],
  },
  openFolders: ["internal"],
  insiders: { "rate-limit": ["redis"] },
  sharedTypes: BOTTOM,
  outside: {
    "node:async_hooks": "context/storage.ts",
    "node:diagnostics_channel": "diagnostics-channel/publish-events.ts",
    "@opentelemetry/api": "opentelemetry/",
  },
  maxLines: 250,
};

test("every source file keeps to the layout", () => {
  const files = sources();
  expect(files.size).toBeGreaterThan(20);
  expect([...files.keys()]).toContain("context/storage.ts");
  expect(layoutFaults(files, RULES)).toEqual([]);
});

/** A small tree without a fault; each case below puts one into it. */
const SOUND = {
  "index.ts": `export { useContext } from "./context/index.js";\nexport type { Clock } from "./clock.js";`,
  "errors.ts": "export class TidegateError extends Error {}",
  "clock.ts": "export interface Clock { now(): number }",
  "internal/registry.ts": `import type { Scope } from "../cancellation/scope.js"; export let scope: Scope;`,
  "cancellation/index.ts": `export type { Scope } from "./scope.js";`,
  "cancellation/scope.ts": `import "../internal/registry.js"; export interface Scope { ended: boolean }`,
  "context/index.ts": `export { useContext } from "./use-context.js"; // names only`,
  "context/storage.ts": `import { AsyncLocalStorage } from "node:async_hooks"; export const s = new AsyncLocalStorage();`,
  "context/use-context.ts": `import { s } from "./storage.js"; export const useContext = () => s.getStore();`,
  "rate-limit/index.ts": `export { RateLimiter } from "./rate-limiter.js";`,
  "rate-limit/rate-limiter.ts": `import { TidegateError } from "../errors.js"; export class RateLimiter {}`,
  "lifespan/start.ts": `import { useContext } from "../context/index.js";`,
  "redis/meter.ts": `import { RateLimiter } from "../rate-limit/rate-limiter.js";`,
  "diagnostics-channel/publish-events.ts": `import { channel } from "node:diagnostics_channel"; channel("x");`,
  "opentelemetry/one.ts": `import { metrics } from "@opentelemetry/api"; metrics.disable();`,
  "opentelemetry/other.ts": `import type { Meter } from "@opentelemetry/api"; export let meter: Meter;`,
  "testing/manual-clock.ts": `import type { Clock } from "../clock.js"; // import "node:fs"`,
};

test("a sound tree has no fault", () => {
  expect(faultsWith({})).toEqual([]);
});

test.each([
  [
    "two parts that do not know each other",
    "rate-limit/x.ts",
    `import "../context/index.js";`,
    "rate-limit may not know it",
  ],
  [
    "the same, the other way round",
    "context/x.ts",
    `export { RateLimiter } from "../rate-limit/index.js";`,
    "context may not know it",
  ],
  [
    "a type across",
    "rate-limit/x.ts",
    `import type { U } from "../context/index.js";`,
    "rate-limit may not know it",
  ],
  [
    "a type across, in place",
    "rate-limit/x.ts",
    `export type U = import("../context/index.js").U;`,
    "rate-limit may not know it",
  ],
  [
    "an inner part that leans outward",
    "context/x.ts",
    `import "../lifespan/start.js";`,
    "context may not know it",
  ],
  [
    "the bottom that leans outward",
    "errors.ts",
    `import { s } from "./context/index.js";`,
    "errors may not know it",
  ],
  [
    "somebody who leans on testing",
    "index.ts",
    `export { M } from "./testing/manual-clock.js";`,
    "index may not know it",
  ],
  [
    "testing that knows more than the clock",
    "testing/x.ts",
    `import "../errors.js";`,
    "testing may not know it",
  ],
  ["somebody who imports the root", "lifespan/x.ts", `import "../index.js";`, "lifespan may not know it"],
  [
    "another folder past its index",
    "lifespan/x.ts",
    `import { s } from "../context/storage.js";`,
    "import context/index.js",
  ],
  [
    "a value past the index, at the bottom",
    "internal/x.ts",
    `import { s } from "../cancellation/scope.js";`,
    "import cancellation/index.js",
  ],
  [
    "a value past the index, by an outsider",
    "fetch/x.ts",
    `import { RateLimiter } from "../rate-limit/rate-limiter.js";`,
    "import rate-limit/index.js",
  ],
  [
    "somebody who leans on what shares over a store",
    "pipeline/x.ts",
    `import "../redis/meter.js";`,
    "pipeline may not know it",
  ],
  [
    "a folder through its own index",
    "context/x.ts",
    `import { useContext } from "./index.js";`,
    "import the file",
  ],
  ["a part that the table does not name", "extra/x.ts", `import "../errors.js";`, "extra may not know it"],
  [
    "async_hooks in a second file",
    "context/x.ts",
    `import { AsyncResource } from "node:async_hooks";`,
    "node:async_hooks from outside",
  ],
  [
    "a type of async_hooks",
    "context/x.ts",
    `import type { AsyncResource } from "node:async_hooks";`,
    "node:async_hooks from outside",
  ],
  [
    "diagnostics_channel in a second file",
    "diagnostics-channel/x.ts",
    `import { channel } from "node:diagnostics_channel";`,
    "node:diagnostics_channel from outside",
  ],
  [
    "the peer outside of its folder",
    "rate-limit/x.ts",
    `import { metrics } from "@opentelemetry/api";`,
    "@opentelemetry/api from outside",
  ],
  [
    "the peer in a folder whose name begins like its own",
    "opentelemetry-x/x.ts",
    `import { metrics } from "@opentelemetry/api";`,
    "@opentelemetry/api from outside",
  ],
  [
    "another package in the folder of the peer",
    "opentelemetry/x.ts",
    `import "@opentelemetry/sdk-metrics";`,
    "@opentelemetry/sdk-metrics from outside",
  ],
  ["another module of Node", "context/storage.ts", `import "node:fs";`, "node:fs from outside"],
  [
    "the same without the prefix",
    "clock.ts",
    `import { performance } from "perf_hooks";`,
    "perf_hooks from outside",
  ],
  ["a package", "rate-limit/x.ts", `import "limiter";`, "limiter from outside"],
  ["a dynamic import", "rate-limit/x.ts", `await import("node:timers");`, "node:timers from outside"],
  ["a computed import", "rate-limit/x.ts", `await import(name);`, "computed"],
  ["a require", "rate-limit/x.ts", `const fs = require("node:fs");`, "node:fs from outside"],
  ["an import assignment", "rate-limit/x.ts", `import fs = require("node:fs");`, "node:fs from outside"],
  ["a reference to types", "clock.ts", `/// <reference types="node" />`, "refers to node"],
  ["an import without its ending", "lifespan/x.ts", `import "../errors";`, "no source file"],
  ["an import with the ending of the source", "lifespan/x.ts", `import "../errors.ts";`, "no source file"],
  ["an import of nothing", "lifespan/x.ts", `import "./gone.js";`, "no source file"],
  ["code in an index", "context/index.ts", `export const x = 1;`, "more than names: export const"],
  ["an import in an index", "context/index.ts", `import "./storage.js";`, "more than names: import"],
  ["a default in an index", "context/index.ts", `export default 1;`, "more than names: export default"],
  ["a star in an index", "context/index.ts", `export * from "./storage.js";`, "more than names: export *"],
  [
    "a named star in an index",
    "context/index.ts",
    `export * as storage from "./storage.js";`,
    "more than names: export * as",
  ],
  ["251 lines", "lifespan/x.ts", "\n".repeat(251), "251 lines"],
])("finds %s", (_name, file, text, fault) => {
  const found = faultsWith({ [file]: text });
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(`${file}: `);
  expect(found[0]).toContain(fault);
});

test("250 lines are allowed", () => {
  expect(faultsWith({ "lifespan/x.ts": "\n".repeat(250) })).toEqual([]);
});

function faultsWith(change: Record<string, string>): string[] {
  return layoutFaults(new Map(Object.entries({ ...SOUND, ...change })), RULES);
}

function sources(): Map<string, string> {
  const folder = join(ROOT, "src");
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".ts"),
  );
  return new Map(paths.map((path) => [path.replaceAll("\\", "/"), readFileSync(join(folder, path), "utf8")]));
}
