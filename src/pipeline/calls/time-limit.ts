import { type Deadline, followSignal, Scope } from "../../cancellation/index.js";
import { systemClock } from "../../clock.js";
import {
  currentFrame,
  deriveFrame,
  EAGER,
  type EagerThenable,
  type Frame,
  keepInside,
  runInFrame,
} from "../../context/index.js";
import { isTidegateError } from "../../errors.js";
import { requireFinite, requireFunction } from "../../internal/checks.js";
import { isGenerator } from "../../internal/generators.js";
import { isThenable } from "../../internal/thenable.js";
import type { Run } from "../../lifespan/index.js";
import { DeadlineExceededError } from "../errors.js";
import { holdRun } from "../run/run-work.js";
import { scheduleAt } from "../../internal/schedule-at.js";

/**
 * Calls `body` under a time limit. When the time is over, {@link useSignal} within is aborted, acquires and fan-outs
 * within stop waiting, and the returned promise rejects, also when the body goes on; the run still waits for the body.
 * Of nested limits the earliest counts. An `acquire` within whose wait cannot fit fails at once.
 *
 * The limit bounds promises. A body that returns a plain value has done so before any timer could fire; the steps of a
 * generator that it returns are not bounded; and the handle that `app.run()` returns is handed through as it is: the
 * limit aborts that run.
 *
 * @param ms - Milliseconds from 0 up, finite. On the clock of the environment; outside every one on the system's.
 * @returns What `body` returns; of a promise, one with the same result.
 * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when an argument cannot be.
 * @throws DeadlineExceededError (`DEADLINE_EXCEEDED`) as a rejection, when the time is over.
 * @example
 * const page = await withTimeout(5_000, () => fetchPage(url));
 */
export function withTimeout<R>(ms: number, body: () => R): R {
  requireFinite("ms", ms, 0, "milliseconds");
  requireFunction("body", body);
  return new TimeLimit(ms, currentFrame()).call(body);
}

class TimeLimit {
  readonly #ms: number;
  readonly #caller: Frame | undefined;
  readonly #frame: Frame;
  readonly #scope: Scope;
  readonly #deadline: Deadline;
  #disarm: () => void = () => undefined;
  #unfollow: () => void = () => undefined;
  #reject: ((reason: unknown) => void) | undefined;
  /** Lets go of the run that waits for a body which nobody awaits any more. */
  #letGo: (() => void) | undefined;

  constructor(ms: number, caller: Frame | undefined) {
    const clock = (caller?.run as Run | undefined)?.clock ?? systemClock;
    this.#ms = ms;
    this.#caller = caller;
    this.#deadline = { clock, at: clock.now() + ms };
    this.#scope = new Scope(caller?.scope, this.#deadline);
    this.#frame = deriveFrame(caller, { scope: this.#scope });
  }

  call<R>(body: () => R): R {
    let result: R;
    try {
      this.#arm();
      result = runInFrame(this.#frame, () => {
        const returned = body();
        return isGenerator(returned) ? returned : keepInside(this.#frame, returned);
      });
    } catch (error) {
      this.#end();
      throw error;
    }
    if (!isThenable(result)) {
      this.#end();
      return keepInside(this.#caller, result);
    }
    if (EAGER in result) {
      void (result as unknown as EagerThenable)[EAGER].then(() => {
        this.#end();
      });
      return result;
    }
    return this.#limit(result) as R;
  }

  #limit(body: PromiseLike<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      body.then(
        (value) => {
          this.#end();
          resolve(value);
        },
        (error: unknown) => {
          this.#end();
          reject(error);
        },
      );
    });
  }

  #arm(): void {
    this.#disarm = scheduleAt(this.#deadline.clock, this.#deadline.at, () => {
      this.#expire();
    });
    // A limit around it that passes ends this one too. One that has passed before does not: this is its cleanup.
    if (this.#caller?.scope?.deadline === undefined || this.#scope.aborted) return;
    this.#unfollow = followSignal(this.#scope.signal, (reason) => {
      if (isTidegateError(reason, "DEADLINE_EXCEEDED")) this.#abandon(reason);
    });
  }

  #expire(): void {
    // In the frame of the body, for listeners of its signal run in the frame of who aborts it.
    const error = new DeadlineExceededError(this.#ms);
    runInFrame(this.#frame, () => {
      this.#scope.abort(error);
    });
    this.#abandon(error);
  }

  #abandon(reason: unknown): void {
    if (this.#reject === undefined || this.#letGo !== undefined) return;
    this.#disarm();
    this.#letGo = holdRun(this.#caller?.run as Run | undefined);
    this.#reject(reason);
  }

  #end(): void {
    this.#disarm();
    this.#unfollow();
    this.#scope.leave();
    this.#letGo?.();
  }
}
