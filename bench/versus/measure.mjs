import { fileURLToPath } from "node:url";
import { errorLine, outputOf, STEADY } from "../support/node-process.mjs";
import { shuffled } from "./shuffle.mjs";

const CHILD = fileURLToPath(new URL("child.mjs", import.meta.url));

/** Longer than any job takes at the rate that is asked for: who is not done by then is marked so. */
const TIME_LIMIT_MS = 60_000;
/** Who takes longer than this for a round is measured once: medians of what is far off are not worth the time. */
const SLOW_MS = 5_000;

/**
 * @typedef {object} Cell What one contestant has reached in one row.
 * @property {Record<string, number | boolean>[]} rounds Its values, by round.
 * @property {string} [cannot] Why there are none.
 * @property {boolean} [isSlow] Whether it has been measured only once because of the time it takes.
 */

/**
 * Measures all contestants of a row, round by round, each time in a new order.
 *
 * @param {import("./rows.mjs").Row} row
 * @param {(import("./adapters.mjs").Adapter & { file: string })[]} adapters
 * @param {() => number} random
 * @returns {Promise<Map<string, Cell>>} By name, in the order of the adapters.
 */
export async function measureRow(row, adapters, random) {
  const cells = new Map(adapters.map(({ name, cannot }) => [name, { rounds: [], cannot: cannot[row.name] }]));
  for (let round = 0; round < row.rounds; round += 1) {
    for (const adapter of shuffled(adapters, random)) {
      const cell = cells.get(adapter.name);
      if (cell.cannot !== undefined || cell.isSlow) continue;
      const started = performance.now();
      try {
        cell.rounds.push(await measureOnce(row, adapter));
        cell.isSlow = performance.now() - started > SLOW_MS;
      } catch (error) {
        cell.cannot = whyNot(error);
      }
    }
  }
  const [ours] = cells.values();
  if (ours.cannot !== undefined)
    throw new Error(`tidegate cannot be measured in ${row.name}: ${ours.cannot}`);
  return cells;
}

async function measureOnce(row, adapter) {
  if (row.measureFromOutside !== undefined) return row.measureFromOutside(adapter);
  const args = [row.name, adapter.file];
  return JSON.parse(await outputOf(CHILD, args, { flags: STEADY, timeLimitMs: TIME_LIMIT_MS }));
}

function whyNot(error) {
  if (error.killed) return `not done within ${String(TIME_LIMIT_MS / 1000)} s`;
  return `failed: ${errorLine(error.stderr ?? String(error)) ?? "no result"}`;
}
