import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { build, type BuildOptions } from "esbuild";
import { type Plugin, rollup } from "rollup";
import { Consumer } from "../support/consumer.js";
import { entries } from "../support/package-json.js";

jest.setTimeout(120_000); // packs and starts processes, on machines that may be busy

let consumer: Consumer;

beforeAll(async () => {
  consumer = await Consumer.create();
});

afterAll(async () => {
  await consumer.remove();
});

const BUNDLERS = [
  { bundler: "esbuild", bundle: bundleWithEsbuild },
  { bundler: "rollup", bundle: bundleWithRollup },
];

describe.each(BUNDLERS)("$bundler, for a browser", ({ bundle }) => {
  test.each([
    ["all of tidegate/rate-limit", `export * from "tidegate/rate-limit";`],
    ["one limiter", `export { RateLimiter } from "tidegate/rate-limit";`],
  ])("bundles %s without a module of Node, and it works there", async (_name, program) => {
    const code = await bundle(program);
    expect(platformNeeds(code)).toEqual([]);
    expect(await tryInBrowser(code)).toEqual([true, false]);
  });
});

test("the limiter out of the root entry leaves the platform behind too", async () => {
  const code = await bundleWithEsbuild(`export { RateLimiter } from "tidegate";`, {
    external: ["node:async_hooks"],
  });
  expect(platformNeeds(code)).toEqual([]);
  expect(await tryInBrowser(code)).toEqual([true, false]);
});

test.each(["esm", "cjs"] as const)("the root, bundled for Node as %s, works", async (format) => {
  const program = `
    import { App, ContextKey, Environment, useContext } from "tidegate";
    const key = new ContextKey("port");
    const environment = new Environment({ lifespan: function* (builder) { builder.provide(key, 80); yield; } });
    new App({ name: "main", environment }, async () => useContext(key)).run()
      .then((port) => environment.stop().then(() => console.log(port)));`;
  const code = await bundleWithEsbuild(program, { platform: "node", format });
  expect(code).toContain("node:async_hooks");
  expect(await consumer.evaluate(`bundled-${format}.${format === "esm" ? "mjs" : "cjs"}`, code)).toBe(80);
});

/** What is left in a bundle that a browser does not have. */
function platformNeeds(code: string): string[] {
  return code.match(/.*(?:\bnode:|async_hooks|\brequire\(|\bfrom ?").*/g) ?? [];
}

async function bundleWithEsbuild(program: string, options: BuildOptions = {}): Promise<string> {
  const { outputFiles, warnings } = await build({
    stdin: { contents: program, resolveDir: consumer.folder },
    bundle: true,
    write: false,
    platform: "browser",
    format: "iife",
    globalName: "bundled",
    logLevel: "silent",
    ...options,
  });
  expect(warnings).toEqual([]);
  return outputFiles?.[0]?.text ?? "";
}

async function bundleWithRollup(program: string): Promise<string> {
  const warnings: string[] = [];
  const built = await rollup({
    input: "program",
    plugins: [programAndPackage(program)],
    onwarn: ({ message }) => warnings.push(message),
  });
  const { output } = await built.generate({ format: "iife", name: "bundled" });
  await built.close();
  expect(warnings).toEqual([]);
  return output[0].code;
}

/** Gives rollup the program to start from, and finds the package as the `import` condition of its exports says. */
function programAndPackage(program: string): Plugin {
  return {
    name: "program-and-package",
    resolveId(id) {
      if (id === "program") return id;
      const target = entries.find(({ name }) => name === id)?.targets.import.default;
      return target === undefined ? null : join(consumer.package, target);
    },
    load: (id) => (id === "program" ? program : null),
  };
}

/** Runs a bundle where there is nothing of Node, and takes two tokens of one. */
async function tryInBrowser(code: string): Promise<unknown> {
  const browser = { performance, setTimeout, clearTimeout, AbortController };
  const use = `
    (() => {
      const limiter = new bundled.RateLimiter({ maxRowsPerSecond: 1 });
      return limiter.acquire().then(() => [true, limiter.tryAcquire()]);
    })();`;
  const result = (await runInNewContext(`${code}\n${use}`, browser)) as unknown[];
  return [...result];
}
