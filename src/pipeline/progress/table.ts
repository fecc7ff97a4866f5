import type { Row } from "./rows.js";
import { widthOf } from "./text.js";

/**
 * The widths of the columns of a table; 0 for one that is empty or left out.
 *
 * @param droppable - Columns that may be left out where not all fit into `room`, in this order.
 */
export function widthsOf(rows: readonly Row[], droppable: readonly number[], room: number): number[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] as string))),
  );
  for (const column of droppable) if (totalOf(widths) > room) widths[column] = 0;
  return widths;
}

/** The width of a table: its columns, with two blanks between them. */
export function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + (width === 0 ? 0 : width + 2), -2);
}

/** A line of a table: the first column begins on the left, the others end on the right. */
export function lineOf(
  row: Row,
  widths: readonly number[],
  paint: (text: string, column: number) => string,
): string {
  const cells = row.flatMap((text, column) => {
    const width = widths[column] as number;
    if (width === 0) return [];
    const blanks = " ".repeat(width - widthOf(text));
    const painted = text === "" ? "" : paint(text, column);
    return [column === 0 ? painted + blanks : blanks + painted];
  });
  return cells.join("  ").trimEnd();
}
