import { type BatchCaller, type BatchPlace } from "./batch-caller.js";
import type { BatchHome } from "./batch-home.js";
import { scheduleAt } from "../../internal/schedule-at.js";

/** A batch that gathers items until it goes. */
export class Batch<T> implements BatchPlace<T> {
  readonly home: BatchHome;
  /** In the order of their calls. */
  readonly callers = new Set<BatchCaller<T>>();
  readonly #onEmpty: () => void;
  #disarm: (() => void) | undefined;
  #wake!: () => void;

  /**
   * @param onGo - Called a turn after the batch was told to go, in the async context of the code that made it: timers
   *   fire, and batches fill up, in that of anybody.
   * @param onEmpty - Called when all its callers have left, before that.
   */
  constructor(home: BatchHome, onGo: (batch: Batch<T>) => void, onEmpty: (batch: Batch<T>) => void) {
    this.home = home;
    this.#onEmpty = () => {
      onEmpty(this);
    };
    void new Promise<void>((resolve) => {
      this.#wake = resolve;
    }).then(() => {
      if (this.callers.size > 0) onGo(this);
    });
  }

  /** Tells it to go `delayMs` from now; undefined: now. */
  goAfter(delayMs: number | undefined): void {
    if (delayMs === undefined) {
      this.#wake();
      return;
    }
    const { clock } = this.home;
    this.#disarm = scheduleAt(clock, clock.now() + delayMs, this.#wake);
  }

  /** Tells it to go now. */
  go(): void {
    this.#disarm?.();
    this.#wake();
  }

  leave(caller: BatchCaller<T>): void {
    this.callers.delete(caller);
    if (this.callers.size > 0) return;
    this.#disarm?.();
    this.#onEmpty();
  }
}
