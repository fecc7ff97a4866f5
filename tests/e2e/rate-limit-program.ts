import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { type Finished, runNode } from "../support/run-node.js";
import { ROOT } from "../support/root.js";

/** Runs programs over the limiters in processes of their own, from one bundle of the sources. */
export class ProgramRunner {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(): Promise<ProgramRunner> {
    const folder = await mkdtemp(join(tmpdir(), "tidegate-rate-limit-"));
    await build({
      stdin: {
        contents: `export * from "./src/rate-limit/index.js";
          export { Scope } from "./src/cancellation/index.js";
          export { registry } from "./src/internal/registry.js";
          export { ManualClock } from "./src/testing/index.js";`,
        resolveDir: ROOT,
      },
      bundle: true,
      format: "esm",
      platform: "node",
      outfile: join(folder, "tidegate.mjs"),
      logLevel: "warning",
    });
    return new ProgramRunner(folder);
  }

  /** Runs a program that may import from "./tidegate.mjs". */
  async run(name: string, program: string): Promise<Finished> {
    const file = `${name}.mjs`;
    await writeFile(join(this.#folder, file), program);
    return await runNode([file], this.#folder);
  }

  /** Runs a program and reads the JSON that it prints; what it prints as error is an error. */
  async evaluate(name: string, program: string): Promise<unknown> {
    const { code, stdout, stderr } = await this.run(name, program);
    if (code !== 0 || stderr !== "") throw new Error(`${name} ended with ${String(code)}: ${stderr}`);
    return JSON.parse(stdout) as unknown;
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
