import { getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { isTidegateError } from "../../src/errors.js";
import { CountedClock } from "./counted-clock.js";
import { GrantLogs } from "./grants.js";
import { Functions } from "./functions.js";

/** What a program throws because its plan says so. */
export class PlannedFailure extends Error {
  override readonly name = "PlannedFailure";
}

/** What a soak has done so far. */
export interface Counts {
  rounds: number;
  runs: number;
  aborts: number;
  stops: number;
  items: number;
  /** Failures that were meant to happen: planned ones, aborts, time limits, refused runs. */
  failures: number;
}

/** Parts that a test replaces by broken ones, to see that the soak finds them. */
export interface Parts {
  readonly clock?: CountedClock;
  readonly signal?: AbortSignal;
}

/** No wait of a healthy library takes as long, on a machine that is busy with other things too. */
const LONGEST_MS = 30_000;
/** What follows a fault is not waited for as long: it may hang because of that. */
const LONGEST_AFTER_FAULT_MS = 1_000;

/** What outlives the rounds, as it does in a program: functions, a signal, a clock. And what was found wrong. */
export class Stage {
  readonly clock: CountedClock;
  /** Given to many runs, and never aborted. */
  readonly signal: AbortSignal;
  readonly faults: string[] = [];
  readonly counts: Counts = { rounds: 0, runs: 0, aborts: 0, stops: 0, items: 0, failures: 0 };
  readonly grants: GrantLogs;
  readonly functions: Functions;

  constructor(parts: Parts = {}) {
    this.clock = parts.clock ?? new CountedClock();
    this.signal = parts.signal ?? new AbortController().signal;
    this.grants = new GrantLogs(this.clock, (text) => {
      this.fault(text);
    });
    this.functions = new Functions(this);
  }

  fault(text: string): void {
    if (this.faults.length < 20) this.faults.push(text);
  }

  check(holds: boolean, text: () => string): void {
    if (!holds) this.fault(text());
  }

  /** Counts a failure that may happen in a program that is aborted and stopped; any other is a fault. */
  expectFailure(error: unknown, where: string): void {
    if (isExpected(error)) this.counts.failures += 1;
    else this.fault(`${where} failed: ${describe(error)}`);
  }

  /** Waits for what must come to an end. */
  async within<T>(promise: PromiseLike<T>, what: string): Promise<T | undefined> {
    const longestMs = this.faults.length === 0 ? LONGEST_MS : LONGEST_AFTER_FAULT_MS;
    const timer = new AbortController();
    const late = sleep(longestMs, undefined, { signal: timer.signal }).then(
      () => {
        this.fault(`${what} has not ended within ${String(longestMs)} ms`);
        return undefined;
      },
      () => undefined,
    );
    try {
      return await Promise.race([promise, late]);
    } finally {
      timer.abort();
    }
  }

  /** Nothing runs: whatever is left of the clock or on the signal is a leak. */
  checkQuiet(where: string): void {
    const { pending } = this.clock;
    this.check(pending === 0, () => `${where}: ${String(pending)} timers are left`);
    const listeners = getEventListeners(this.signal, "abort").length;
    this.check(listeners === 0, () => `${where}: ${String(listeners)} listeners are left on a signal`);
  }
}

const EXPECTED = new Set<string>(["DEADLINE_EXCEEDED", "RUN_ABORTED", "WAIT_TOO_LONG", "ENVIRONMENT_STATE"]);

function isExpected(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isExpected);
  return error instanceof PlannedFailure || (isTidegateError(error) && EXPECTED.has(error.code));
}

export function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? String(error)) : String(error);
}
