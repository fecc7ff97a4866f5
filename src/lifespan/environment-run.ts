import { Scope } from "../cancellation/index.js";
import type { Clock } from "../clock.js";
import { currentFrame, deriveFrame, enterFrame, nestHandlers, runInFrame } from "../context/index.js";
import type { ExceptionHandlers, Frame, ValueSource } from "../context/index.js";
import { begunIn } from "./begun-in.js";
import type { Run } from "./run.js";

/** A run as the environments that count it see it. */
export interface CountedRun extends Run {
  /** The frame of the code that began it; that of the code around, when it was left over from a run that had ended. */
  readonly begunIn: Frame | undefined;
  /**
   * Says that the environment was told to stop. The first reason stays.
   *
   * @returns The errors of listeners.
   */
  requestStop(reason: unknown): readonly unknown[];
  /** Ends the waiting in the run and aborts its signals. */
  abort(reason: unknown): void;
}

interface RunHome {
  readonly environment: object;
  readonly source: ValueSource;
  readonly clock: Clock;
  readonly handlers: ExceptionHandlers;
  /** Counts the run; what it returns takes the run out again. */
  count(run: CountedRun): () => void;
}

type StopListener = (reason: unknown) => void;

export class EnvironmentRun implements CountedRun {
  readonly environment: object;
  readonly begunIn: Frame | undefined;
  readonly outer: Run | undefined;
  readonly scope: Scope;
  readonly clock: Clock;
  ended = false;
  stopRequest: { readonly reason: unknown } | undefined = undefined;
  readonly #frame: Frame;
  readonly #listeners = new Set<StopListener>();
  readonly #uncount: () => void;
  #isOver = false;
  #holds = 0;

  constructor(home: RunHome) {
    const around = begunIn(currentFrame());
    this.environment = home.environment;
    this.clock = home.clock;
    this.begunIn = around;
    this.outer = around?.run as Run | undefined;
    this.scope = new Scope(around?.scope);
    const frame = currentFrame();
    this.#frame = deriveFrame(frame, {
      source: home.source,
      scope: this.scope,
      run: this,
      item: undefined,
      handlers: nestHandlers(home.handlers, frame?.handlers),
    });
    this.#uncount = home.count(this);
  }

  onStopRequest(listener: StopListener): () => void {
    const frame = currentFrame();
    // In the frame of who listens: stop() may be called from anywhere.
    const bound: StopListener = (reason) => {
      runInFrame(frame, () => {
        listener(reason);
      });
    };
    if (this.stopRequest !== undefined) bound(this.stopRequest.reason);
    else this.#listeners.add(bound);
    return () => {
      this.#listeners.delete(bound);
    };
  }

  enter<R>(body: () => R): R {
    return enterFrame(this.#frame, body);
  }

  hold(): () => void {
    if (this.ended) return () => undefined;
    this.#holds += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holds -= 1;
      this.#leaveIfOver();
    };
  }

  end(): void {
    this.#isOver = true;
    this.#leaveIfOver();
  }

  #leaveIfOver(): void {
    if (!this.#isOver || this.#holds > 0 || this.ended) return;
    this.ended = true;
    this.#listeners.clear();
    this.scope.leave();
    this.#uncount();
  }

  requestStop(reason: unknown): readonly unknown[] {
    if (this.stopRequest !== undefined) return [];
    this.stopRequest = { reason };
    const errors: unknown[] = [];
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) {
      try {
        listener(reason);
      } catch (error) {
        errors.push(error);
      }
    }
    return errors;
  }

  abort(reason: unknown): void {
    runInFrame(this.#frame, () => {
      this.scope.abort(reason);
    });
  }
}
