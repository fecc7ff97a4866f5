import { InvalidArgumentError } from "../../errors.js";
import { requireBoolean, requireOptions } from "../../internal/checks.js";
import { BlockReporter } from "./block-reporter.js";
import { LineReporter } from "./line-reporter.js";
import { type ProgressReporter, requireInterval } from "./reporter.js";
import type { ProgressStream } from "./screen.js";
import { standardError, variable } from "./surroundings.js";

/** Options of `terminalProgress`. */
export interface TerminalProgressOptions {
  /** Where to write. Default: `process.stderr`; where there is none, nothing is written. */
  readonly stream?: ProgressStream | undefined;
  /**
   * The width of a redrawn line: an integer from 20 up. Default: that of the stream at each time, and 80 where it has
   * none or less than 20.
   */
  readonly columns?: number | undefined;
  /**
   * Whether redrawn lines have colours; plain lines never have. Default: true, unless the variable `NO_COLOR` is set
   * and not empty.
   */
  readonly color?: boolean | undefined;
  /**
   * Whether lines are redrawn in place. Default: true when the stream is a terminal, `TERM` is not `dumb`, and `CI` is
   * not set, or is empty or `false`.
   */
  readonly redraw?: boolean | undefined;
  /** Milliseconds between two updates: finite, above 0. Default: 100 when redrawn, else 5,000. */
  readonly intervalMs?: number | undefined;
}

/**
 * Shows a run to people, as `progress: true` does. On a terminal: a block of lines that is redrawn, with the functions
 * of the run, the limiters that limit it, and the time that these will still take; it stays when the run has ended.
 * Elsewhere: a plain line at each interval in which something has changed, and one at the end. A reporter shows one run
 * at a time; several of them can share a terminal.
 *
 * @throws InvalidArgumentError (`ARGUMENT_INVALID`) for an option that cannot be; it names which.
 * @example
 * await app.run({ progress: terminalProgress({ stream: process.stdout, color: false }) });
 */
export function terminalProgress(options?: TerminalProgressOptions): ProgressReporter {
  const given = requireOptions("options", options) ?? {};
  const { columns } = given;
  if (columns !== undefined && !(Number.isSafeInteger(columns) && columns >= 20)) {
    throw new InvalidArgumentError("columns", "an integer from 20 up", columns);
  }
  const redraw = given.redraw === undefined ? undefined : requireBoolean("redraw", given.redraw);
  const color = given.color === undefined ? undefined : requireBoolean("color", given.color);
  const intervalMs = requireInterval(given.intervalMs);
  const stream = given.stream === undefined ? standardError() : requireStream(given.stream);
  if (stream === undefined) return { update: () => undefined };
  if (!(redraw ?? canRedraw(stream))) return new LineReporter(stream, intervalMs);
  return new BlockReporter(stream, columns, color ?? variable("NO_COLOR") === undefined, intervalMs);
}

function requireStream(stream: ProgressStream): ProgressStream {
  if (typeof (stream as Partial<ProgressStream> | null)?.write === "function") return stream;
  throw new InvalidArgumentError("stream", "a stream with write()", stream);
}

function canRedraw(stream: ProgressStream): boolean {
  const ci = variable("CI") ?? "false";
  return stream.isTTY === true && ci === "false" && variable("TERM") !== "dumb";
}
