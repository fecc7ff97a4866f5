/**
 * @typedef {object} Fault
 * @property {string} name
 * @property {import("./contestants.mjs").Contestant[]} contestants The libraries in which it was seen once, and tidegate.
 * @property {(make: Function, context: Context) => Promise<object>} probe Makes it happen; returns what was observed,
 *   as plain data.
 * @property {(observed: object) => boolean} seen Whether that is the fault.
 * @property {(observed: object) => string} figure What was observed, for the reader.
 * @property {() => void} [prepare] Runs before the library is loaded.
 * @property {boolean} [alone] Needs the machine for itself: milliseconds count.
 * @property {boolean} [untilExit] Ends when the process does; `observed` then has `heldMs`, the time until that.
 * @property {"stock" | "cluster"} [redis] The Redis server that it needs.
 *
 * @typedef {{ redisPort?: number }} Context What the parent hands to the probe.
 */

/** The files of bench/compare/faults, in the order of the table. */
const FILES = [
  "window",
  "strict-window",
  "clock-set-back",
  "long-delay",
  "async-context",
  "abort",
  "large-request",
  "timers",
  "slow-rate",
  "keyed",
  "redis",
  "disposal",
  "failed-build",
  "lifespan",
  "server-pushback",
];

/**
 * @param {string} word Part of the name or of the file's name; empty for all.
 * @returns {Promise<Fault[]>}
 */
export async function faultsWith(word) {
  const wanted = word.toLowerCase();
  const found = [];
  for (const file of FILES) {
    const { faults } = await import(`../faults/${file}.mjs`);
    found.push(...faults.filter(({ name }) => file.includes(wanted) || name.toLowerCase().includes(wanted)));
  }
  return found;
}

/** @param {string} name The whole name. */
export async function findFault(name) {
  return (await faultsWith(name)).find((fault) => fault.name === name);
}
