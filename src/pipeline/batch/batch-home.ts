import type { Scope } from "../../cancellation/index.js";
import { type Clock, systemClock } from "../../clock.js";
import { currentFrame, deriveFrame, type Frame, runInFrame, type ValueSource } from "../../context/index.js";
import { beginRun, type Environment, type Run } from "../../lifespan/index.js";
import { Item } from "../run/item.js";

/**
 * Where the body of a batch runs: in the environment of its callers, and in nothing else of theirs. There it is a run
 * of its own, so that the environment stays open for it, whoever of its callers leaves, and aborts it at the end of a
 * drain.
 */
export class BatchHome {
  readonly #source: ValueSource | undefined;
  #run: Run | undefined;

  constructor(source: ValueSource | undefined) {
    this.#source = source;
  }

  get clock(): Clock {
    return this.#run?.clock ?? systemClock;
  }

  /** @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when the caller is left over from a run that has ended. */
  admit(caller: Frame | undefined): void {
    const run = caller?.run as Run | undefined;
    // Outside there is none, and a lifespan is none.
    if (this.#run !== undefined || run === undefined) return;
    // From within the run of the caller: while the environment drains, only what is a part of a run begins one.
    const nothing = { overrides: undefined, scope: undefined, item: undefined, handlers: undefined };
    const around = deriveFrame(caller, nothing);
    this.#run = runInFrame(around, () => beginRun(run.environment as Environment));
  }

  /** The scope of the run. */
  get scope(): Scope | undefined {
    return this.#run?.scope;
  }

  /** A frame for one call of the body. */
  frame(scope: Scope): Frame {
    const frame = this.#run?.enter(currentFrame);
    // An item in flight, not main: when the environment is told to stop, a fan-out in it goes on, as those of the
    // callers do.
    const item = new Item({ slots: undefined, depth: 1, runScope: undefined });
    return deriveFrame(frame, { source: this.#source, scope, item });
  }

  end(): void {
    this.#run?.end();
  }
}
