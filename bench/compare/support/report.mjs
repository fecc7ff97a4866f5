const HEADINGS = { fault: "fault", contestant: "contestant", verdict: "", figure: "observed" };

const VERDICTS = ["seen", "not seen", "not run", "error"];
/** Messages of errors are quoted up to here. */
const FIGURE_WIDTH = 90;

/**
 * Prints the results as a table, and what to conclude from it.
 *
 * @param {import("./run-probe.mjs").Result[]} results In the order in which they are to be printed.
 */
export function printReport(results) {
  printRows(results);
  const notSeen = results.filter(({ ours, verdict }) => !ours && verdict === "not seen");
  if (notSeen.length > 0) {
    console.log("\nOnce seen there, but not now (mended, or not met in this run):");
    for (const { fault, contestant } of notSeen) console.log(`  ${contestant}: ${fault}`);
  }
  console.log(`\ntidegate: ${tally(results.filter(({ ours }) => ours))}`);
  console.log(`others: ${tally(results.filter(({ ours }) => !ours))}`);
}

/** What makes the run fail: a fault of tidegate, and a probe that broke down, whosever it was. */
export function failuresOf(results) {
  return results.filter(({ ours, verdict }) => verdict === "error" || (ours && verdict === "seen"));
}

function tally(results) {
  const counts = VERDICTS.map((verdict) => [
    verdict,
    results.filter((row) => row.verdict === verdict).length,
  ]);
  return counts.flatMap(([verdict, count]) => (count > 0 ? `${verdict} ${String(count)}` : [])).join(", ");
}

function printRows(results) {
  const columns = Object.keys(HEADINGS);
  // A fault is named in its first row only.
  const rows = results.map((row, index) => ({
    ...row,
    fault: row.fault === results[index - 1]?.fault ? "" : row.fault,
    figure: row.figure.length > FIGURE_WIDTH ? `${row.figure.slice(0, FIGURE_WIDTH - 1)}…` : row.figure,
  }));
  const widths = columns.map((column) => Math.max(...[HEADINGS, ...rows].map((row) => row[column].length)));
  for (const row of [HEADINGS, ...rows]) {
    console.log(
      columns
        .map((column, index) => row[column].padEnd(widths[index]))
        .join("  ")
        .trimEnd(),
    );
  }
}
