import type { Run } from "../lifespan/index.js";
import { Slots } from "./slots.js";

/** Items in flight where nobody has said how many. */
export const DEFAULT_CONCURRENCY = 1024;

const WORK = Symbol.for("tidegate/run-work/v1");

/** What the pipeline keeps for one run. It lies on the run itself, so that copies of the package share it. */
export class RunWork {
  /** For the items of all fan-outs of the run together. */
  readonly slots: Slots;
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

  /** Resolves when nothing is held; undefined when nothing is. For one caller. */
  whenQuiet(): Promise<void> | undefined {
    if (this.#openBodies === 0) return undefined;
    return new Promise((resolve) => {
      this.#quiet = resolve;
    });
  }
}

/** The work of `run`; made with `concurrency` when there is none yet. */
export function workOf(run: Run, concurrency = DEFAULT_CONCURRENCY): RunWork {
  const holder = run as Run & Record<typeof WORK, RunWork | undefined>;
  return (holder[WORK] ??= new RunWork(concurrency));
}
