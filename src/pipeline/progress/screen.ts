import { widthOf } from "./text.js";

/** Where progress is written: `process.stderr`, or anything that can write text. */
export interface ProgressStream {
  /** Takes text to show, with its line breaks. */
  write(text: string): unknown;
  /** Whether it is a terminal, which can be redrawn. */
  readonly isTTY?: boolean | undefined;
  /** The width of the terminal in columns, read each time. */
  readonly columns?: number | undefined;
  /** The height of the terminal in rows, read each time. */
  readonly rows?: number | undefined;
}

const COLUMNS = { usual: 80, least: 20 };
const ROWS = { usual: 24, least: 2 };

const screens = new WeakMap<ProgressStream, Screen>();

/** The one screen of a stream: two that redraw the same lines would overwrite each other. */
export function screenOf(stream: ProgressStream): Screen {
  let screen = screens.get(stream);
  if (screen === undefined) screens.set(stream, (screen = new Screen(stream)));
  return screen;
}

/**
 * Writes a text above the blocks that are shown on a stream: written past them, the next redraw would erase it.
 *
 * @returns Whether there are any; else nothing was written.
 */
export function printAbove(stream: ProgressStream, text: string): boolean {
  return screens.get(stream)?.print(text) === true;
}

/** Columns of a stream; the usual ones where it does not know, or where nothing would fit. */
export function columnsOf({ columns }: ProgressStream): number {
  return sane(columns, COLUMNS);
}

function sane(size: number | undefined, { usual, least }: typeof COLUMNS): number {
  return Number.isSafeInteger(size) && (size as number) >= least ? (size as number) : usual;
}

/** The last lines of a terminal, which are redrawn: a block for each run that shows itself, one below the other. */
class Screen {
  readonly #stream: ProgressStream;
  readonly #blocks = new Map<object, readonly string[]>();
  #drawn: readonly string[] = [];
  /** How wide the terminal was then: it cuts off what is wider. */
  #drawnColumns = 0;

  constructor(stream: ProgressStream) {
    this.#stream = stream;
  }

  /** Rows that the block of `owner` may take beside the others. One is left for the cursor. */
  rowsFor(owner: object): number {
    const blocks = this.#blocks.size + (this.#blocks.has(owner) ? 0 : 1);
    return Math.max(1, Math.floor(this.#rows / blocks));
  }

  /** Puts lines in the place of those that `owner` has shown before. */
  show(owner: object, lines: readonly string[]): void {
    this.#blocks.set(owner, lines);
    this.#draw("");
  }

  /** Writes lines that stay, in the place of the block of `owner`. */
  leave(owner: object, lines: readonly string[]): void {
    this.#blocks.delete(owner);
    this.#draw(asText(lines));
  }

  /** Writes text that stays, above the blocks. @returns Whether there are any; else it does nothing. */
  print(text: string): boolean {
    if (this.#blocks.size === 0) return false;
    this.#draw(asText([text]));
    return true;
  }

  get #rows(): number {
    return sane(this.#stream.rows, ROWS) - 1;
  }

  /** Writes what has changed, at once: in two steps it would flicker. */
  #draw(above: string): void {
    // No more than the cursor can come back over.
    const lines = [...this.#blocks.values()].flat().slice(-this.#rows);
    if (above === "" && lines.join("\n") === this.#drawn.join("\n")) return;
    const text = this.#eraser() + above + (lines.length === 0 ? "" : unwrapped(asText(lines)));
    this.#drawn = lines;
    this.#drawnColumns = columnsOf(this.#stream);
    this.#stream.write(text);
  }

  /** Takes the cursor to the first line that was drawn and clears from there on. */
  #eraser(): string {
    const columns = columnsOf(this.#stream);
    // A terminal that has become narrower has wrapped them.
    const rows = this.#drawn.reduce(
      (sum, line) =>
        sum + Math.max(1, Math.ceil(Math.min(widthOf(bare(line)), this.#drawnColumns) / columns)),
      0,
    );
    return rows === 0 ? "" : `\r\x1b[${String(rows)}A\x1b[J`;
  }
}

/** Lets a terminal cut off what it draws wider than it was counted: a line that wraps would be a row too many. */
function unwrapped(text: string): string {
  return `\x1b[?7l${text}\x1b[?7h`;
}

function bare(line: string): string {
  return line.replace(/\x1b\[\d+m/g, "");
}

function asText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
