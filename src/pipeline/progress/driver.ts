import type { Clock } from "../../clock.js";
import { currentFrame, enterFrame } from "../../context/index.js";
import { scheduleAt } from "../../internal/schedule-at.js";
import type { RunStats } from "../run/run-stats.js";
import type { ProgressReport, ProgressReporter, RunOutcome } from "./reporter.js";
import { terminalProgress } from "./terminal-progress.js";

const INTERVAL_MS = 100;

/** A reporter as it may be in fact: its methods can be async, although their types do not say so. */
interface AnyReporter {
  readonly intervalMs?: number | undefined;
  readonly start?: ((report: ProgressReport) => unknown) | undefined;
  update(report: ProgressReport): unknown;
  readonly log?: ((line: string) => unknown) | undefined;
  readonly stop?: ((report: ProgressReport, outcome: RunOutcome) => unknown) | undefined;
}

/**
 * Tells a reporter how one run goes on: at the start, then at each interval, and at the end. It has one timer, from
 * `start` to `stop`. The reporter is called in the frame of the code that makes the driver, and nothing that it does
 * comes back from here: it throws nothing, and no rejection is left unhandled.
 */
export class ProgressDriver {
  readonly #reporter: AnyReporter;
  readonly #app: string;
  readonly #clock: Clock;
  readonly #readStats: () => RunStats;
  readonly #intervalMs: number;
  readonly #frame = currentFrame();
  #startedAt = 0;
  /** Takes the timer back; undefined before the start and after the end. */
  #cancel: (() => void) | undefined;

  /** @param reporter - As `requireProgress` has returned it. */
  constructor(reporter: true | ProgressReporter, app: string, clock: Clock, readStats: () => RunStats) {
    this.#reporter = reporter === true ? terminalProgress() : reporter;
    this.#app = app;
    this.#clock = clock;
    this.#readStats = readStats;
    this.#intervalMs = this.#reporter.intervalMs ?? INTERVAL_MS;
  }

  start(): void {
    this.#startedAt = this.#clock.now();
    // Before the reporter is told: it may end the run.
    this.#arm();
    this.#tell((reporter) => reporter.start?.(this.#report()));
  }

  /**
   * Hands a line for people to the reporter.
   *
   * @returns Whether it has taken the line; else the caller has to show it.
   */
  log(line: string): boolean {
    let isTaken = false;
    if (this.#cancel === undefined) return isTaken;
    this.#tell((reporter) => {
      if (reporter.log === undefined) return undefined;
      const told = reporter.log(line);
      isTaken = true;
      return told;
    });
    return isTaken;
  }

  /** Tells the reporter that the run has ended. Does nothing before `start`, nor the second time. */
  stop(outcome: RunOutcome): void {
    if (this.#cancel === undefined) return;
    this.#cancel();
    this.#cancel = undefined;
    this.#tell((reporter) => reporter.stop?.(this.#report(), outcome));
  }

  #arm(): void {
    this.#cancel = scheduleAt(this.#clock, this.#clock.now() + this.#intervalMs, () => {
      this.#arm();
      this.#tell((reporter) => reporter.update(this.#report()));
    });
  }

  #report(): ProgressReport {
    return {
      app: this.#app,
      elapsedMs: this.#clock.now() - this.#startedAt,
      stats: this.#readStats(),
    };
  }

  #tell(call: (reporter: AnyReporter) => unknown): void {
    try {
      const told = enterFrame(this.#frame, () => call(this.#reporter));
      Promise.resolve(told).catch(() => undefined);
    } catch {
      // What is shown of a run must not change it.
    }
  }
}
