import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { errorLine } from "../../support/node-process.mjs";
import { isOurs, labelOf } from "./contestants.mjs";

const CHILD = fileURLToPath(new URL("child.mjs", import.meta.url));

/** Longer than any probe takes on a busy machine: each has time limits of its own for what may hang. */
const TIME_LIMIT_MS = 60_000;

/**
 * @typedef {object} Result
 * @property {string} fault
 * @property {string} contestant
 * @property {boolean} ours
 * @property {"seen" | "not seen" | "not run" | "error"} verdict
 * @property {string} figure
 */

/**
 * Runs the probe of one fault in one contestant, in a process of its own.
 *
 * @param {import("./faults.mjs").Fault} fault
 * @param {number} position Of the contestant.
 * @param {import("./faults.mjs").Context} context
 * @returns {Promise<Result>}
 */
export async function runProbe(fault, position, context) {
  const args = [CHILD, fault.name, String(position), JSON.stringify(context)];
  const stdio = ["ignore", "ignore", "pipe", "pipe"];
  const child = spawn(process.execPath, args, { stdio, timeout: TIME_LIMIT_MS, killSignal: "SIGKILL" });
  const [found, complaints] = await Promise.all([text(child.stdio[3]), text(child.stderr)]);
  if (found === "") {
    const reason = child.killed
      ? `no result within ${String(TIME_LIMIT_MS / 1000)} s`
      : (errorLine(complaints) ?? "ended without a result");
    return brokenDown(fault, position, reason);
  }
  const { seen, figure } = JSON.parse(found);
  return result(fault, position, seen ? "seen" : "not seen", figure);
}

/** The result of a contestant that is not run. */
export function notRun(fault, position, reason) {
  return result(fault, position, "not run", reason);
}

/** The result of a contestant whose probe could not be run as it should. */
export function brokenDown(fault, position, reason) {
  return result(fault, position, "error", reason);
}

function result(fault, position, verdict, figure) {
  const contestant = fault.contestants[position];
  return { fault: fault.name, contestant: labelOf(contestant), ours: isOurs(contestant), verdict, figure };
}
