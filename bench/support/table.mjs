const HEADINGS = { what: "", figure: "figure", ratio: "ratio to the floor", goal: "goal", verdict: "" };

/**
 * @typedef {object} Row
 * @property {string} what
 * @property {string} figure
 * @property {string} [ratio] Cost as a multiple of the floor.
 * @property {string} [goal]
 * @property {string} [verdict]
 */

/**
 * Prints rows in columns as wide as they need.
 *
 * @param {string} title
 * @param {Row[]} rows
 */
export function printTable(title, rows) {
  printColumns(title, HEADINGS, rows);
}

/**
 * The same, of columns that are told.
 *
 * @param {string} title
 * @param {Record<string, string>} headings By column.
 * @param {Record<string, string>[]} rows
 */
export function printColumns(title, headings, rows) {
  const columns = Object.keys(headings);
  const lines = [headings, ...rows].map((row) => columns.map((column) => row[column] ?? ""));
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index].length)));
  console.log(`\n${title}`);
  for (const line of lines) {
    console.log(`  ${line.map((cell, index) => cell.padEnd(widths[index])).join("  ")}`.trimEnd());
  }
}

/** The verdict on a goal of speed or size: a missed one is printed and changes nothing else. */
export function goalVerdict(reached) {
  return reached ? "reached" : "missed";
}

/** The verdict on a promise of the library: a broken one makes the whole run fail. */
export function promiseVerdict(faults) {
  return faults.length === 0 ? "holds" : "BROKEN";
}
