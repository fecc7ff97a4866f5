import { figure, hasRatio, lag, ratioTo, valuesOf } from "./figures.mjs";

/**
 * @typedef {object} Result
 * @property {import("./rows.mjs").Row} row
 * @property {Map<string, import("./measure.mjs").Cell>} cells By contestant; the first is tidegate.
 */

/**
 * One table as Markdown, with its title and how it was measured.
 *
 * @param {Result} result
 */
export function rowReport({ row, cells }) {
  const [ours] = cells.values();
  const header = [
    "",
    ...row.metrics.flatMap((metric) => [metric.label, ...(hasRatio(metric) ? ["ratio"] : [])]),
  ];
  const notes = [];
  const lines = [...cells].map(([name, cell]) => {
    if (cell.cannot !== undefined) {
      if (!notes.includes(cell.cannot)) notes.push(cell.cannot);
      return [
        name,
        ...header.slice(1).map((_, index) => (index === 0 ? mark(notes.indexOf(cell.cannot)) : "")),
      ];
    }
    return [name, ...row.metrics.flatMap((metric) => figures(ours, cell, metric))];
  });
  return [
    `### ${row.title}`,
    `${row.how} ${roundsOf(row)}`,
    table([header, ...lines]),
    ...(row.note === undefined ? [] : [row.note]),
    ...(notes.length > 0 ? [notes.map((note, index) => `${superscript(index)} ${note}.`).join("\\\n")] : []),
  ].join("\n\n");
}

/**
 * Where tidegate is not the best, as a Markdown list.
 *
 * @param {Result[]} results
 */
export function lagReport(results) {
  const items = results.flatMap(({ row, cells }) => {
    const [[own, ours], ...peers] = cells;
    return peers
      .filter(([name]) => !name.startsWith(`${own}:`))
      .flatMap(([name, theirs]) =>
        row.metrics
          .map((metric) => ({ metric, text: lag(ours, theirs, row, metric) }))
          .filter(({ text }) => text !== undefined)
          .map(({ metric, text }) => `- ${row.title}, ${metric.label}, ${name}: ${text}.`),
      );
  });
  return [
    "## Where tidegate is behind",
    items.length > 0 ? items.join("\n") : "Nowhere in these tables.",
  ].join("\n\n");
}

/**
 * The versions, and which part of each library was used.
 *
 * @param {{ version: string, uses: string }[]} contestants
 */
export function contestantsReport(contestants) {
  const lines = contestants.map(({ version, uses }) => [version, uses]);
  return table([["", "uses"], ...lines], "---");
}

function figures(ours, cell, metric) {
  const text = figure(cell, metric);
  if (!hasRatio(metric)) return [text];
  const isComparable = valuesOf(cell, metric).length > 0 && valuesOf(ours, metric).length > 0;
  return [text, isComparable ? ratioTo(ours, cell, metric).toFixed(2) : ""];
}

function roundsOf({ rounds }) {
  return rounds === 1 ? "" : `Median of ${String(rounds)} rounds (least to most).`;
}

function mark(index) {
  return `cannot ${superscript(index)}`;
}

function superscript(index) {
  return `(${String.fromCharCode("a".charCodeAt(0) + index)})`;
}

/**
 * @param {string[][]} lines The first one holds the headings.
 * @param {string} [alignment] Of all columns but the first.
 */
function table([header, ...lines], alignment = "---:") {
  const columns = header.map((_, index) => (index === 0 ? "---" : alignment));
  return [header, columns, ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
