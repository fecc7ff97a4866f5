import type { Tally } from "./service.js";

const LABEL = 16;
const CELL = 12;

/** The head of a table of {@link row}s. */
export function head(): string {
  return line("", ["items", "seconds", "200", "429", "quota used"]);
}

/** What a service has seen of one run. */
export function row(label: string, items: number, { seconds, ok, tooMany, quotaUsed }: Tally): string {
  return line(label, [items, seconds.toFixed(2), ok, tooMany, `${(quotaUsed * 100).toFixed(1)}%`]);
}

function line(label: string, cells: readonly (string | number)[]): string {
  return label.padEnd(LABEL) + cells.map((cell) => String(cell).padStart(CELL)).join("");
}
