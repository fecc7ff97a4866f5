import type { ProgressStream } from "../../../../../src/pipeline/progress/screen.js";

/** A terminal that understands what progress writes, and nothing else. All characters are one column wide. */
export class Terminal implements ProgressStream {
  readonly isTTY = true;
  columns: number;
  rows: number;
  /** What was written, call by call. */
  readonly writes: string[] = [];
  /** All lines from the beginning; those above the last `rows` have scrolled off and cannot be reached any more. */
  readonly #lines: string[] = [""];
  #row = 0;
  #column = 0;
  #wraps = true;

  constructor(columns = 80, rows = 24) {
    this.columns = columns;
    this.rows = rows;
  }

  /** The lines, without blanks at their ends and empty lines at the end. */
  get shown(): string[] {
    const lines = this.#lines.map((line) => line.trimEnd());
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }

  write(text: string): void {
    this.writes.push(text);
    for (const [part] of text.matchAll(/\x1b\[\??\d*[A-Za-z]|[^]/gu)) this.#take(part);
  }

  #take(part: string): void {
    const escape = /^\x1b\[(\??)(\d*)([A-Za-z])$/.exec(part);
    if (escape !== null) this.#obey(`${escape[1] as string}${escape[3] as string}`, Number(escape[2]));
    else if (part === "\r") this.#column = 0;
    else if (part === "\n") this.#newLine();
    else this.#put(part);
  }

  #obey(command: string, n: number): void {
    if (command === "A") this.#row = Math.max(this.#row - n, this.#lines.length - this.rows, 0);
    else if (command === "J") this.#clear();
    else if (command === "?l") this.#wraps = false;
    else if (command === "?h") this.#wraps = true;
    else if (command !== "m") throw new Error(`An escape that is not known: ${command}`);
  }

  #put(character: string): void {
    if (this.#column === this.columns) {
      if (this.#wraps) this.#newLine();
      else this.#column -= 1;
    }
    const line = (this.#lines[this.#row] as string).padEnd(this.#column);
    this.#lines[this.#row] = line.slice(0, this.#column) + character + line.slice(this.#column + 1);
    this.#column += 1;
  }

  #newLine(): void {
    this.#row += 1;
    this.#column = 0;
    if (this.#row === this.#lines.length) this.#lines.push("");
  }

  #clear(): void {
    this.#lines.length = this.#row + 1;
    this.#lines[this.#row] = (this.#lines[this.#row] as string).slice(0, this.#column);
  }
}

/** What is piped: no size, no terminal. */
export class Pipe implements ProgressStream {
  text = "";

  write(text: string): void {
    this.text += text;
  }

  get lines(): string[] {
    return this.text.split("\n").slice(0, -1);
  }
}
