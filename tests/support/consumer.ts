import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "./root.js";
import { type Finished, run, runNode } from "./run-node.js";

/** A project outside the repository that has the packed package, and nothing else, in its node_modules. */
export class Consumer {
  readonly folder: string;
  /** Where the package lies. */
  readonly package: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.package = join(folder, "node_modules/tidegate");
  }

  /** Packs the built package and installs it. Delete the project with {@link remove}. */
  static async create(): Promise<Consumer> {
    const consumer = new Consumer(await realpath(await mkdtemp(join(tmpdir(), "tidegate-consumer-"))));
    await must(
      run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", consumer.folder], ROOT),
    );
    await mkdir(consumer.package, { recursive: true });
    const unpack = "tar -xzf tidegate-*.tgz --strip-components=1 -C node_modules/tidegate";
    await must(run("sh", ["-c", unpack], consumer.folder));
    await consumer.write({ "package.json": "{}" });
    return consumer;
  }

  /** Adds all packages that the repository has installed, for programs that use the package beside others. */
  async linkOthers(): Promise<void> {
    const from = join(ROOT, "node_modules");
    for (const name of await readdir(from)) {
      if (!name.startsWith("."))
        await symlink(join(from, name), join(this.folder, "node_modules", name), "junction");
    }
  }

  /** Writes files, by path inside the project. */
  async write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(this.folder, path)), { recursive: true });
      await writeFile(join(this.folder, path), text);
    }
  }

  /** Writes a program (`.mjs` or `.cjs`) into the project and runs it. */
  async run(file: string, program: string): Promise<Finished> {
    await this.write({ [file]: program });
    return runNode([file], this.folder);
  }

  /** Like {@link run}, for a program that prints one line of JSON, must not fail, and must not write to stderr. */
  async evaluate(file: string, program: string): Promise<unknown> {
    const { stdout } = await must(this.run(file, program));
    return JSON.parse(stdout);
  }

  /** Puts a copy of the package into the project that believes to be another version. */
  async copyAs(version: string, folder: string): Promise<void> {
    const copy = join(this.folder, folder);
    await cp(this.package, copy, { recursive: true });
    const files = (await readdir(join(copy, "dist"), { recursive: true })).filter((file) =>
      /\.c?js$/.test(file),
    );
    let changes = 0;
    for (const file of files.map((name) => join(copy, "dist", name))) {
      const text = await readFile(file, "utf8");
      const changed = text.replace(/(?<=\bVERSION = )"[^"]*"/, JSON.stringify(version));
      if (changed !== text) changes += 1;
      await writeFile(file, changed);
    }
    if (changes !== 2)
      throw new Error(`The version stands in ${String(changes)} files, not in one of each format`);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function must(running: Promise<Finished>): Promise<Finished> {
  const finished = await running;
  if (finished.code !== 0 || finished.stderr !== "") {
    throw new Error(`ended with ${String(finished.code)}\n${finished.stdout}\n${finished.stderr}`);
  }
  return finished;
}
