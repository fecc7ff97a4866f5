import { blockLines, type Paint } from "./block.js";
import type { ProgressReport, ProgressReporter, RunOutcome } from "./reporter.js";
import type { View } from "./rows.js";
import { columnsOf, type ProgressStream, screenOf } from "./screen.js";
import { Speeds, speedsOverAll } from "./speeds.js";

const paintNothing: Paint = (_, text) => text;
const paintAnsi: Paint = (color, text) => `\x1b[${String(color)}m${text}\x1b[0m`;

/** Shows a run as lines that are redrawn in place. */
export class BlockReporter implements ProgressReporter {
  readonly intervalMs: number | undefined;
  readonly #stream: ProgressStream;
  readonly #columns: number | undefined;
  readonly #paint: Paint;
  #speeds = new Speeds();

  /** @param columns - Undefined for those of the stream. */
  constructor(
    stream: ProgressStream,
    columns: number | undefined,
    hasColors: boolean,
    intervalMs: number | undefined,
  ) {
    this.intervalMs = intervalMs;
    this.#stream = stream;
    this.#columns = columns;
    this.#paint = hasColors ? paintAnsi : paintNothing;
  }

  start(report: ProgressReport): void {
    this.#speeds = new Speeds();
    this.update(report);
  }

  update(report: ProgressReport): void {
    this.#speeds.add(report);
    const screen = screenOf(this.#stream);
    const view = { report, outcome: undefined, speedOf: this.#speeds.of };
    screen.show(this, this.#lines(view, screen.rowsFor(this)));
  }

  log(line: string): void {
    screenOf(this.#stream).print(line);
  }

  stop(report: ProgressReport, outcome: RunOutcome): void {
    const view = { report, outcome, speedOf: speedsOverAll(report) };
    // What is not redrawn may be as long as it likes.
    screenOf(this.#stream).leave(this, this.#lines(view, Infinity));
  }

  #lines(view: View, rows: number): string[] {
    return blockLines(view, this.#columns ?? columnsOf(this.#stream), rows, this.#paint);
  }
}
