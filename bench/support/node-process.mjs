import { execFile } from "node:child_process";
import { promisify } from "node:util";

/**
 * Flags for a process that measures itself. The garbage is collected on the main thread: helper threads that wait for a
 * free core would count as CPU time.
 */
export const STEADY = ["--expose-gc", "--single-threaded-gc"];

/**
 * Runs a file in a process of its own; what it prints.
 *
 * @param {string} file
 * @param {string[]} args
 * @param {{ flags?: string[], timeLimitMs?: number }} [options] No time limit by default.
 */
export async function outputOf(file, args, { flags = [], timeLimitMs = 0 } = {}) {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, file, ...args], {
    timeout: timeLimitMs,
  });
  return stdout;
}

/** The line of what a process has complained about that says what went wrong; undefined when it has said nothing. */
export function errorLine(stderr) {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  return lines.find((line) => /^\S*(Error|Exception)\b/.test(line)) ?? lines.at(-1);
}
