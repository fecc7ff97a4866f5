import type { ProgressReport, ProgressReporter, RunOutcome } from "./reporter.js";
import { failedText, functionRows, headline, limiterRows, type Row, type View } from "./rows.js";
import type { ProgressStream } from "./screen.js";
import { Speeds, speedsOverAll } from "./speeds.js";
import { countText } from "./text.js";

const INTERVAL_MS = 5_000;
/** Functions in one line at most, with the rest as one. */
const MOST = 6;

/** Shows a run as plain lines, for files and for logs of others. */
export class LineReporter implements ProgressReporter {
  readonly intervalMs: number;
  readonly #stream: ProgressStream;
  #speeds = new Speeds();
  #written = "";

  constructor(stream: ProgressStream, intervalMs = INTERVAL_MS) {
    this.intervalMs = intervalMs;
    this.#stream = stream;
  }

  start(report: ProgressReport): void {
    this.#speeds = new Speeds();
    this.#speeds.add(report);
    this.#written = "";
  }

  update(report: ProgressReport): void {
    this.#speeds.add(report);
    const view = { report, outcome: undefined, speedOf: this.#speeds.of };
    const state = stateOf(view).join("; ");
    if (state === this.#written) return;
    this.#written = state;
    this.log(`${headline(view)}: ${state}`);
  }

  log(line: string): void {
    this.#stream.write(`${line}\n`);
  }

  stop(report: ProgressReport, outcome: RunOutcome): void {
    const view = { report, outcome, speedOf: speedsOverAll(report) };
    const { functions, total } = report.stats;
    const sums =
      functions.length < 2 ? [] : [listed([`${countText(total.done)} done`, failedText(total.failed)])];
    const state = [...sums, ...stateOf(view)].join("; ");
    this.log(headline(view) + (state === "" ? "" : `: ${state}`));
  }
}

/** Functions and limiters: "fetch 20/50, 40%, 5/s, 1 failed", "api limit 5/s, 12 queued". */
function stateOf(view: View): string[] {
  const rows = [...functionRows(view, MOST).map(({ texts }) => texts), ...limiterRows(view)];
  return rows.map(([name = "", ...facts]) => `${name} ${listed(facts)}`.trimEnd());
}

function listed(facts: Row): string {
  return facts.filter((fact) => fact !== "").join(", ");
}
