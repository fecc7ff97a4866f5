import { execFile } from "node:child_process";
import { mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { ROOT } from "./root.js";
import { parseMarkdown } from "./samples-markdown.js";

/** One `ts` block of a document: a whole program. Its `// =>` comments say what it prints, line by line, in order. */
export interface Sample {
  /** The document, and the line in it at which the program begins. */
  readonly file: string;
  readonly line: number;
  readonly code: string;
}

/** Languages of blocks that are no programs. Any other one than these and `ts` is a fault: it would go unchecked. */
const NOT_RUN = new Set(["sh", "text"]);

const TSCONFIG = join(ROOT, "tsconfig.json");
const AT_ONCE = 2;

/** @throws Error for a block whose language is not known, so that no program is left out by its spelling. */
export function samplesOf(file: string, text: string): Sample[] {
  return parseMarkdown(text).blocks.flatMap(({ language, line, text: code }) => {
    if (language === "ts") return [{ file, line, code }];
    if (NOT_RUN.has(language)) return [];
    throw new Error(
      `${file}:${String(line)}: a block of "${language}": known are ts, ${[...NOT_RUN].join(", ")}`,
    );
  });
}

/**
 * Type-checks samples with the options of the repository, all in one program.
 *
 * @param folder - Where they lie, and so whose packages they import. In the repository that is its source, else what
 * `node_modules` holds there.
 * @returns For each sample its faults, `file:line: what is wrong`; empty when all is well.
 */
export function typeFaults(samples: readonly Sample[], folder = ROOT): string[][] {
  const config = ts.getParsedCommandLineOfConfigFile(TSCONFIG, undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (fault) => {
      throw new Error(messageOf(fault));
    },
  });
  const options: ts.CompilerOptions = { ...config?.options, declaration: false, rootDir: folder };
  if (folder !== ROOT) options.paths = {};
  // They are no files, so that they can lie where the packages are that they import.
  const texts = new Map(
    samples.map(({ code }, index) => [join(folder, `sample-${String(index)}.mts`), code]),
  );
  const plain = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...plain,
    getSourceFile: (path, how, ...rest) => {
      const text = texts.get(path);
      return text === undefined
        ? plain.getSourceFile(path, how, ...rest)
        : ts.createSourceFile(path, text, how);
    },
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  const general = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()].map(messageOf);
  if (general.length > 0) throw new Error(general.join("\n"));
  return [...texts.keys()].map((path, index) => {
    const { file, line } = samples[index] as Sample;
    const source = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map((fault) => {
      const inside = source?.getLineAndCharacterOfPosition(fault.start ?? 0).line ?? 0;
      return `${file}:${String(line + inside)}: ${messageOf(fault)}`;
    });
  });
}

function messageOf({ messageText, code }: ts.Diagnostic): string {
  return `TS${String(code)} ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
}

/**
 * Runs each sample in a process of its own, and compares what it prints with its comments.
 *
 * @param limitMs - The longest time for one of them.
 * @returns For each sample its faults, as {@link typeFaults} does.
 */
export async function runFaults(samples: readonly Sample[], limitMs: number): Promise<string[][]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "tidegate-samples-")));
  // For the packages that samples import; a junction needs no rights on Windows.
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"), "junction");
  const faults: string[][] = [];
  const waiting = samples.entries();
  const work = async (): Promise<void> => {
    for (const [index, sample] of waiting) {
      const path = join(folder, `${String(index)}.mts`);
      await writeFile(path, sample.code);
      faults[index] = await faultsOfRun(sample, path, limitMs);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return faults;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function faultsOfRun(sample: Sample, path: string, limitMs: number): Promise<string[]> {
  const at = `${sample.file}:${String(sample.line)}`;
  const expected = [...sample.code.matchAll(/\/\/ => ?(.*)$/gm)].map(([, text]) => text);
  if (expected.length === 0) return [`${at}: has no "// =>" comment, so running it would prove nothing`];
  const { end, stdout, stderr } = await run(path, limitMs);
  const faults = end === undefined ? [] : [`${at}: ${end}`];
  if (stderr !== "") faults.push(`${at}: wrote to stderr: ${stderr.trimEnd()}`);
  const printed = stdout === "" ? [] : stdout.replace(/\n$/, "").split("\n");
  const length = Math.max(printed.length, expected.length);
  for (let index = 0; index < length; index += 1) {
    if (printed[index] === expected[index]) continue;
    const shown = [printed[index], expected[index]].map((line) =>
      line === undefined ? "nothing" : `"${line}"`,
    );
    faults.push(`${at}: printed ${shown.join(" where it says ")} (output line ${String(index + 1)})`);
    break; // the lines behind it are shifted
  }
  return faults;
}

interface Ended {
  /** How it ended, when it did not end well. */
  readonly end: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function run(path: string, limitMs: number): Promise<Ended> {
  const env: NodeJS.ProcessEnv = { ...process.env, NODE_OPTIONS: "", TSX_TSCONFIG_PATH: TSCONFIG };
  delete env.FORCE_COLOR; // jest sets it
  delete env.NODE_V8_COVERAGE;
  return new Promise((resolve) => {
    const args = ["--import", "tsx", path];
    execFile(process.execPath, args, { cwd: ROOT, env, timeout: limitMs }, (error, stdout, stderr) => {
      const late = error?.killed === true ? `took longer than ${String(limitMs)} ms` : undefined;
      const end = error === null ? undefined : (late ?? `ended with exit code ${String(error.code)}`);
      resolve({ end, stdout, stderr });
    });
  });
}
