import type { RunOutcome } from "./reporter.js";
import { functionRows, headline, limiterRows, type Row, type View } from "./rows.js";
import { lineOf, totalOf, widthsOf } from "./table.js";
import { cut, widthOf } from "./text.js";

/** Makes a text stand out, in a colour of {@link COLORS}. Takes no columns. */
export type Paint = (color: number, text: string) => string;

/** As terminals number them. */
const COLORS = { red: 31, green: 32, yellow: 33 } as const;

/** From this width on a bar says something; beyond the second it says no more. */
const BAR = { least: 8, most: 24 };

const OUTCOMES: Readonly<Record<RunOutcome, number>> = {
  done: COLORS.green,
  failed: COLORS.red,
  aborted: COLORS.yellow,
  stopped: COLORS.yellow,
};

/**
 * The lines that show a run: its name and time, its functions, its limiters. None is wider than `columns`, from 20 up,
 * and there are no more than `rows`, from 1 up.
 */
export function blockLines(view: View, columns: number, rows: number, paint: Paint): string[] {
  const { outcome } = view;
  const head = cut(headline(view), columns);
  const limiters = limiterRows(view).slice(0, Math.ceil((rows - 1) / 2));
  return [
    outcome === undefined ? head : paint(OUTCOMES[outcome], head),
    ...functionLines(view, rows - 1 - limiters.length, columns, paint),
    ...limiters.map((row) => limiterLine(row, columns, paint)),
  ];
}

/** Name, counts, bar, percentage, speed, failures, in flight. The bar has what the others leave. */
function functionLines(view: View, most: number, room: number, paint: Paint): string[] {
  const facts = functionRows(view, most);
  const rows = facts.map(({ texts: [name = "", counts = "", ...others] }) => {
    const text = cut(counts, room - 5);
    return [shortName(name, room, widthOf(text)), text, "", ...others];
  });
  const widths = widthsOf(rows, [6, 3, 4, 5], room);
  const width = Math.min(room - totalOf(widths) - 2, BAR.most);
  if (widths[3] !== 0 && width >= BAR.least) {
    widths[2] = width;
    for (const [index, row] of rows.entries()) row[2] = bar(facts[index]?.percent, width);
  }
  return rows.map((row) =>
    lineOf(row, widths, (text, column) => (column === 5 ? paint(COLORS.red, text) : text)),
  );
}

function bar(percent: number | undefined, width: number): string {
  if (percent === undefined) return "";
  const full = Math.floor((percent / 100) * width);
  return "█".repeat(full) + "░".repeat(width - full);
}

/** By itself: that there is much to say of one limiter is no reason to say less of another. */
function limiterLine([name = "", ...others]: Row, room: number, paint: Paint): string {
  const row = [shortName(name, room, 0), ...others];
  return lineOf(row, widthsOf([row], [1, 2, 4, 3], room), (text, column) =>
    column === 3 ? paint(COLORS.yellow, text) : text,
  );
}

/** A name in three tenths of the room at most, and in less where what stands beside it needs the room. */
function shortName(name: string, room: number, beside: number): string {
  return cut(name, Math.max(3, Math.min(Math.floor(room * 0.3), room - beside - 2)));
}
