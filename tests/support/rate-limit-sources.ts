import { Scope } from "../../src/cancellation/index.js";
import type { Clock } from "../../src/clock.js";
import type { Fate } from "./rate-limit-model.js";

/** What may end a call before it is granted, by number. */
export interface SourceNumbers {
  readonly signal?: number;
  readonly scope?: number;
  /** What is left of the time limit of a scope of its own. */
  readonly timeLeftMs?: number;
}

/** The same as the call gets it, and as its model does. */
interface CallSources {
  readonly signal: AbortSignal | undefined;
  readonly scope: Scope | undefined;
  readonly follows: readonly Fate[];
  readonly over: readonly Fate[];
}

/** Signals and scopes by number; several calls may follow one. */
export class Sources {
  readonly #clock: Clock;
  readonly #signals = new Map<number, AbortController>();
  readonly #scopes = new Map<number, Scope>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Those of a call that starts now. A source that is over is used this once, to see the refusal, and then replaced. */
  forCall({ signal, scope, timeLeftMs = Infinity }: SourceNumbers): CallSources {
    const follows: Fate[] = [];
    const over: Fate[] = [];
    const controller = signal === undefined ? undefined : known(this.#signals, signal, AbortController);
    if (controller !== undefined && signal !== undefined) {
      const isOver = controller.signal.aborted;
      (isOver ? over : follows).push(signalFate(signal));
      if (isOver) this.#signals.delete(signal);
    }
    // A scope with a time limit stands alone: what the end of a scope around it does is a test of its own.
    if (timeLeftMs !== Infinity) {
      const limited = new Scope(undefined, { clock: this.#clock, at: this.#clock.now() + timeLeftMs });
      return { signal: controller?.signal, scope: limited, follows, over };
    }
    const around = scope === undefined ? undefined : known(this.#scopes, scope, Scope);
    if (around !== undefined && scope !== undefined) {
      (around.ended ? over : follows).push(scopeFate(scope));
      if (around.ended) this.#scopes.delete(scope);
    }
    return { signal: controller?.signal, scope: around, follows, over };
  }

  abort(signal: number): void {
    known(this.#signals, signal, AbortController).abort(signalFate(signal));
  }

  endScope(scope: number): void {
    known(this.#scopes, scope, Scope).release(scopeFate(scope));
  }
}

export function signalFate(signal: number): Fate {
  return `signal ${String(signal)}` as Fate;
}

export function scopeFate(scope: number): Fate {
  return `scope ${String(scope)}` as Fate;
}

/** The source of that number, which is made when there is none. */
function known<S>(sources: Map<number, S>, number: number, make: new () => S): S {
  const source = sources.get(number) ?? new make();
  sources.set(number, source);
  return source;
}
