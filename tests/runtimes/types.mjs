import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  CONSUMER_FILES,
  CONSUMER_OPTIONS,
  CONSUMER_PROGRAM,
  CONSUMER_RESOLUTIONS,
} from "../support/consumer-program.ts";
import { TYPESCRIPTS } from "./versions.mjs";
import { WORKSHOP } from "./workshop.mjs";

const FOLDER = join(WORKSHOP, "consumer");

/**
 * Compiles a program that uses the package, as ESM and as CommonJS, with each TypeScript.
 *
 * @returns {Promise<{ name: string, failures: string[] }[]>}
 */
export async function checkTypes() {
  mkdirSync(FOLDER, { recursive: true });
  for (const file of CONSUMER_FILES) writeFileSync(join(FOLDER, file), CONSUMER_PROGRAM);
  const results = [];
  for (const version of TYPESCRIPTS) {
    for (const [name, resolution] of Object.entries(CONSUMER_RESOLUTIONS)) {
      const compilerOptions = { ...CONSUMER_OPTIONS, ...resolution, noEmit: true };
      writeFileSync(
        join(FOLDER, "tsconfig.json"),
        JSON.stringify({ compilerOptions, files: CONSUMER_FILES }),
      );
      results.push({ name: `TypeScript ${version}, ${name}`, failures: await compile(version) });
    }
  }
  return results;
}

async function compile(version) {
  const compiler = join(WORKSHOP, `node_modules/typescript-${version}/bin/tsc`);
  try {
    await promisify(execFile)(process.execPath, [compiler, "-p", FOLDER]);
    return [];
  } catch (error) {
    return [error.stdout || error.message];
  }
}
