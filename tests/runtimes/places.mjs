import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { bundleSuites, portableSuites } from "./bundle.mjs";
import { launchChromium } from "../support/launch-chromium.ts";
import { NODES } from "./versions.mjs";
import { WORKSHOP } from "./workshop.mjs";

const ALL = ["rate-limit", "context", "lifespan"];
const TIME_LIMIT_MS = 300_000;

/** Modules of Node.js that suites may use, by where. */
const OF_NODE = /^node:/;
const OF_OTHERS = /^node:(async_hooks|events|stream)$/;
const NONE = /^$/;

const inWorkshop = (path) => join(WORKSHOP, "node_modules", path);

/** Prints what came of it as the last line. */
const printing = (suites) => `
  import { runSuites } from "./run-suites.mjs";
  console.log(JSON.stringify(await runSuites(${suites})));
  globalThis.Deno?.exit(0);
  process.exit(0);`;

/**
 * @typedef {object} Place Where the suites run.
 * @property {string} name
 * @property {string[]} folders Below tests/unit.
 * @property {RegExp} modules
 * @property {RegExp} [lacking] What suites that cannot run there use.
 * @property {(suites: string[]) => Promise<{ version: string, result: object }>} run
 */

/** @type {Place[]} */
export const PLACES = [
  ...NODES.map((version) => ({
    name: `Node.js ${version}`,
    folders: ALL,
    modules: OF_NODE,
    run: program(inWorkshop(`node-${version}/bin/node`), ["--expose-gc"], OF_NODE),
  })),
  {
    name: "Deno",
    folders: ALL,
    modules: OF_OTHERS,
    run: program(inWorkshop(".bin/deno"), ["run", "-A"], OF_OTHERS),
  },
  {
    name: "Bun",
    folders: ALL,
    modules: OF_OTHERS,
    run: program(inWorkshop("bun/bin/bun.exe"), [], OF_OTHERS),
  },
  { name: "workerd", folders: ALL, modules: OF_OTHERS, lacking: /\bprocess\.cpuUsage\b/, run: inWorkerd },
  { name: "Chromium", folders: ["rate-limit"], modules: NONE, lacking: /\bprocess\./, run: inChromium },
];

/** @param {Place} place */
export async function runIn({ folders, modules, lacking, run }) {
  const suites = await portableSuites(folders, modules, lacking);
  const { version, result } = await run(suites);
  return { version, suites: suites.length, ...result };
}

function program(executable, flags, modules) {
  return async (suites) => {
    const file = join(WORKSHOP, "suites.mjs");
    writeFileSync(file, await bundleSuites(suites, modules, printing, false));
    try {
      const options = { cwd: WORKSHOP, timeout: TIME_LIMIT_MS, maxBuffer: 2 ** 26 };
      const { stdout: said } = await promisify(execFile)(executable, ["--version"], options);
      const { stdout } = await promisify(execFile)(executable, [...flags, file], options);
      return {
        version: /\d+\.\d+\.\d+/.exec(said)?.[0],
        result: JSON.parse(stdout.trim().split("\n").at(-1)),
      };
    } finally {
      rmSync(file);
    }
  };
}

async function inWorkerd(suites) {
  const { Miniflare } = createRequire(join(WORKSHOP, "package.json"))("miniflare");
  const handling = (all) => `
    import { runSuites } from "./run-suites.mjs";
    export default { fetch: async () => Response.json(await runSuites(${all})) };`;
  const worker = new Miniflare({
    modules: true,
    script: await bundleSuites(suites, OF_OTHERS, handling, true),
    compatibilityDate: "2026-04-01",
    compatibilityFlags: ["nodejs_compat"],
  });
  try {
    const response = await worker.dispatchFetch("http://localhost/");
    if (!response.ok) throw new Error(await response.text());
    const { version } = createRequire(join(WORKSHOP, "package.json"))("workerd/package.json");
    return { version, result: await response.json() };
  } finally {
    await worker.dispose();
  }
}

async function inChromium(suites) {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    const failed = new Promise((_, reject) => page.once("pageerror", reject));
    const showing = (all) => `
      import { runSuites } from "./run-suites.mjs";
      globalThis.result = await runSuites(${all});`;
    const script = await bundleSuites(suites, NONE, showing, true);
    await page.setContent("<!doctype html>");
    await page.addScriptTag({ type: "module", content: script });
    const done = page.waitForFunction(() => globalThis.result, undefined, { timeout: TIME_LIMIT_MS });
    const handle = await Promise.race([done, failed]);
    return { version: browser.version(), result: await handle.jsonValue() };
  } finally {
    await browser.close();
  }
}
