import { SlotWait } from "../run/slot-wait.js";

/** How far the work of one call of `mount` or `mountEach` has come. */
export interface MountStats {
  /** Items that have started. */
  readonly started: number;
  /** Items that have ended without a failure. */
  readonly done: number;
  /** Items that have failed and whose exception handlers have ended; those that were aborted count too. */
  readonly failed: number;
  /** Items that have started and are neither done nor failed. */
  readonly inFlight: number;
}

/** Work that was mounted. It goes on whether or not somebody keeps the handle. */
export interface MountHandle {
  /**
   * Resolves when the mounted work has ended, failed or not, its exception handlers included; never rejects. It does not
   * wait for what that work has mounted in turn: the run does. An item that awaits it gives its slot up meanwhile. Can be
   * called any number of times.
   */
  ready(): Promise<void>;
  /** The counts as of now. */
  stats(): MountStats;
}

/** What a handle shows of its work. */
export interface MountedWork {
  readonly stats: MountStats;
  readonly over: Promise<void>;
}

export class StartedMount implements MountHandle {
  readonly #work: MountedWork;

  constructor(work: MountedWork) {
    this.#work = work;
  }

  async ready(): Promise<void> {
    if (this.#work.stats.inFlight === 0) return;
    const slotWait = new SlotWait();
    slotWait.begin();
    await this.#work.over;
    await new Promise<void>((resolve) => {
      slotWait.end(resolve);
    });
  }

  stats(): MountStats {
    return this.#work.stats;
  }
}
