import { currentFrame, deriveFrame, enterFrame, type Frame } from "../../context/index.js";
import { Deferred } from "../../internal/deferred.js";
import type { Run } from "../../lifespan/index.js";
import { comesOf } from "../main/failure-text.js";
import type { SlotHolder } from "../run/item.js";
import type { Failure, Outlet } from "../fan-out/outlet.js";
import type { FanoutCount } from "../run/run-tally.js";
import { holdRun } from "../run/run-work.js";
import { type MountedWork, type MountHandle, type MountStats, StartedMount } from "./mount-handle.js";
import { MountedItem } from "./mounted-item.js";
import { reportFailure } from "./report-failure.js";

/** What is mounted. */
export interface MountPlan<T> {
  readonly source: "mount" | "mountEach";
  /** The name of the function. */
  readonly name: string;
  readonly call: (item: T) => unknown;
  /** How the run counts it. The calls are counted here, for to the fan-out none fails. Undefined when nobody can look. */
  readonly count: FanoutCount | undefined;
}

/** How one item has ended. */
type Ending = "done" | "failed";

/**
 * One call of `mount` or `mountEach`: to its fan-out the function that never fails, and the outlet. The fan-out and the
 * source belong to the caller and end with the scope of that; the items belong to the run.
 */
export class Mounting<K, T> implements Outlet<Ending>, MountedWork {
  readonly unwanted = undefined;
  readonly #plan: MountPlan<T>;
  readonly #run: Run;
  /** What the frames of all items have in common. */
  readonly #frame: Frame;
  readonly #resolve: (handle: MountHandle) => void;
  readonly #reject: (error: unknown) => void;
  readonly #over = new Deferred<void>();
  readonly #letGo: () => void;
  #started = 0;
  readonly #ended: Record<Ending, number> = { done: 0, failed: 0 };

  /** The run waits from now on, until the end. */
  constructor(
    plan: MountPlan<T>,
    run: Run,
    resolve: (handle: MountHandle) => void,
    reject: (error: unknown) => void,
  ) {
    this.#plan = plan;
    this.#run = run;
    this.#frame = deriveFrame(currentFrame(), { scope: run.scope });
    this.#resolve = resolve;
    this.#reject = reject;
    this.#letGo = holdRun(run);
  }

  get stats(): MountStats {
    const { done, failed } = this.#ended;
    return { started: this.#started, done, failed, inFlight: this.#started - done - failed };
  }

  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Calls the function for an entry, in the frame of the item that holds its slot. Never rejects. */
  readonly start = async ([key, value]: readonly [K, T]): Promise<Ending> => {
    const item = new MountedItem(currentFrame()?.item as SlotHolder, { name: this.#plan.name, key });
    const frame = deriveFrame(this.#frame, { item });
    this.#plan.count?.items?.begin();
    try {
      await enterFrame(frame, () => this.#plan.call(value));
      this.#plan.count?.items?.end(false);
      return "done";
    } catch (error) {
      this.#plan.count?.items?.end(true);
      if (!this.#isAborted(error)) await this.#report(error, key, frame);
      return "failed";
    }
  };

  reserve(): number {
    return this.#started++;
  }

  put(_place: number, ending: Ending): void {
    this.#ended[ending] += 1;
  }

  hasRoom(): boolean {
    return true;
  }

  allStarted(failure: Failure | undefined): void {
    if (failure === undefined) this.#resolve(new StartedMount(this));
    else this.#reject(failure.error);
  }

  end(): void {
    this.#plan.count?.end(this.#started);
    this.#over.resolve();
    this.#letGo();
  }

  /** Whether an error says no more than that the run was told to end. */
  #isAborted(error: unknown): boolean {
    const { ended, reason, aborted, abortReason } = this.#run.scope;
    return ended && (comesOf(error, reason) || (aborted && comesOf(error, abortReason)));
  }

  #report(error: unknown, key: K, frame: Frame): Promise<void> {
    const { source, name } = this.#plan;
    const { path } = frame.item as SlotHolder;
    const environment = frame.source?.name as string;
    return reportFailure(error, { name, key, path, environment, source }, frame);
  }
}
