import type { Clock } from "../clock.js";
import type { Frame } from "../context/index.js";
import { outwards, runOf } from "./begun-in.js";
import { Deferred } from "../internal/deferred.js";
import type { CountedRun } from "./environment-run.js";

/** The runs of an environment and of its children: what its stop waits for. */
export class RunSet {
  readonly #runs = new Set<CountedRun>();
  #stopRequest: { readonly reason: unknown } | undefined;
  #emptied: Deferred<void> | undefined;

  add(run: CountedRun): void {
    this.#runs.add(run);
    if (this.#stopRequest !== undefined && !this.#isPartOfItem(run))
      run.requestStop(this.#stopRequest.reason);
  }

  delete(run: CountedRun): void {
    this.#runs.delete(run);
    if (this.#runs.size === 0) this.#emptied?.resolve();
  }

  /** Aborts all runs; a drain goes on waiting for them. */
  abort(reason: unknown): void {
    for (const run of [...this.#runs]) run.abort(reason);
  }

  /** Whether code in `frame` is part of one of these runs, directly or in a run begun inside it. */
  includes(frame: Frame | undefined): boolean {
    for (const { run } of outwards(frame)) if (this.#runs.has(run as CountedRun)) return true;
    return false;
  }

  /**
   * Tells all runs to come to an end and waits for them; aborts those that have not ended after `limitMs`, and waits
   * on. Without runs it arms no timer.
   *
   * @returns The errors of those that listened for the request.
   */
  async drain(reason: unknown, clock: Clock, limitMs: number): Promise<unknown[]> {
    this.#stopRequest = { reason };
    const errors = [...this.#runs]
      .filter((run) => !this.#isPartOfItem(run))
      .flatMap((run) => run.requestStop(reason));
    if (this.#runs.size === 0) return errors;
    const abort = (): void => {
      this.abort(reason);
    };
    this.#emptied = new Deferred();
    let disarm = (): void => undefined;
    if (limitMs === 0) abort();
    else if (limitMs !== Infinity) disarm = clock.schedule(limitMs, abort);
    // The last run may have ended in `abort`, or in a listener above.
    if (this.#runs.size > 0) await this.#emptied.promise;
    disarm();
    return errors;
  }

  // An item in flight goes on with all it does until it ends, so a run begun in it is not told to stop.
  #isPartOfItem(run: CountedRun): boolean {
    for (const frame of outwards(run.begunIn)) {
      const around = runOf(frame);
      if (isInFanOut(frame) && around !== undefined && this.#runs.has(around)) return true;
    }
    return false;
  }
}

/** A call of a function with a limit of its own stands in the frame too, at depth 0 when main made it. */
function isInFanOut(frame: Frame): boolean {
  return ((frame.item as { readonly depth: number } | undefined)?.depth ?? 0) > 0;
}
