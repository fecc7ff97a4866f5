import type { Run } from "../../lifespan/index.js";
import type { RunTally } from "./run-tally.js";
import { Slots } from "./slots.js";

/** Items in flight where nobody has said how many. */
export const DEFAULT_CONCURRENCY = 1024;

const WORK = Symbol.for("tidegate/run-work/v1");

/** What the pipeline keeps for one run. It lies on the run itself, so that copies of the package share it. */
export class RunWork {
  /** For the items of all fan-outs of the run together. */
  readonly slots: Slots;
  /** Undefined in a run that has no handle, since nobody can look. */
  tally: RunTally | undefined = undefined;
  /** Shows a line together with the progress of the run; says whether it did. Undefined without progress. */
  log: ((line: string) => boolean) | undefined = undefined;
  #openBodies = 0;
  #quiet: (() => void) | undefined;

  constructor(concurrency: number) {
    this.slots = new Slots(concurrency);
  }

  /** Something goes on that nobody awaits any more; the run waits for it. */
  hold(): void {
    this.#openBodies += 1;
  }

  letGo(): void {
    this.#openBodies -= 1;
    if (this.#openBodies === 0) this.#quiet?.();
  }

  /** Resolves when nothing is held, which has to be looked at again then; undefined when nothing is. For one caller. */
  whenQuiet(): Promise<void> | undefined {
    if (this.#openBodies === 0) return undefined;
    return new Promise((resolve) => {
      this.#quiet = resolve;
    });
  }
}

interface WorkHolder extends Run {
  [WORK]: RunWork | undefined;
}

/** What counts the calls in `run`, if anything does. */
export function tallyOf(run: unknown): RunTally | undefined {
  const work = (run as WorkHolder | undefined)?.[WORK];
  return work?.tally;
}

/** The work of `run`; made with `concurrency` when there is none yet. */
export function workOf(run: Run, concurrency = DEFAULT_CONCURRENCY): RunWork {
  return ((run as WorkHolder)[WORK] ??= new RunWork(concurrency));
}

/** Makes `run`, and its environment, wait for work that nobody awaits, until the returned function is called. */
export function holdRun(run: Run | undefined): () => void {
  if (run === undefined) return () => undefined;
  const work = workOf(run);
  work.hold();
  // Not every run waits for its work: that of environment.run() is over with its result.
  const release = run.hold();
  return () => {
    work.letGo();
    release();
  };
}
