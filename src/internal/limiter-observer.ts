import { requireObject } from "./checks.js";
import { enterSlot, inSlot } from "./shared-slot.js";

/** What has happened at a limiter. */
export interface LimiterEvent {
  /** The name of the limiter. */
  readonly limiter: string;
  /** What was asked for: a number of tokens, or an amount for each dimension. */
  readonly cost: unknown;
}

/**
 * Watches all limiters of the process. Each method is called synchronously, right after the fact; one that throws
 * harms nobody.
 *
 * `call` stands for one caller in line and is compared by identity: `granted` and `left` have the same one as the
 * `waited` before. It is undefined for a caller that did not wait, or had joined before anyone watched.
 */
export interface LimiterObserver {
  /** A caller has joined the line. */
  waited?(event: LimiterEvent & { readonly call: object }): void;
  /** A caller has its tokens. `waitedMs` is 0 for one that did not wait, or had joined before anyone watched. */
  granted?(event: LimiterEvent & { readonly waitedMs: number; readonly call: object | undefined }): void;
  /** A caller has left the line without tokens, because of `reason`. */
  left?(
    event: LimiterEvent & {
      readonly waitedMs: number;
      readonly reason: unknown;
      readonly call: object | undefined;
    },
  ): void;
  /** A call of `acquire` was refused at once, before it came into the line, because of `reason`. */
  refused?(event: LimiterEvent & { readonly reason: unknown }): void;
  /** A limiter grants nothing for the next `ms` milliseconds. */
  paused?(event: { readonly limiter: string; readonly ms: number }): void;
  /** The store that a limiter shares its tokens through is out of reach, because of `reason`; told once an outage. */
  storeLost?(event: { readonly limiter: string; readonly reason: unknown }): void;
  /** That store has answered again, `afterMs` milliseconds after it was lost. */
  storeFound?(event: { readonly limiter: string; readonly afterMs: number }): void;
  /** A call over HTTP was refused with `status` and will be made again; `attempt` is 1 for the first time. */
  retried?(event: { readonly limiter: string; readonly status: number; readonly attempt: number }): void;
}

/**
 * Watches every limiter of the process from now on, those of other copies of the package too. While nobody watches,
 * a limiter only checks that nobody does.
 *
 * @returns Ends the watching.
 */
export function observeLimiters(observer: LimiterObserver): () => void {
  return enterSlot("limiterObserver", requireObject("observer", observer), tellEach);
}

/** The observers as one; undefined while nobody watches. */
export function limiterObserver(): Required<LimiterObserver> | undefined {
  return inSlot("limiterObserver") as Required<LimiterObserver> | undefined;
}

function tellEach(observers: readonly LimiterObserver[]): Required<LimiterObserver> {
  // A watcher must not change what it watches, whether it throws or, being async, rejects.
  const each = (tell: (observer: LimiterObserver) => unknown): void => {
    for (const observer of observers) {
      try {
        const told = tell(observer);
        if (told instanceof Promise) told.catch(() => undefined);
      } catch {
        continue;
      }
    }
  };
  return {
    waited: (event) => {
      each((observer) => observer.waited?.(event));
    },
    granted: (event) => {
      each((observer) => observer.granted?.(event));
    },
    left: (event) => {
      each((observer) => observer.left?.(event));
    },
    refused: (event) => {
      each((observer) => observer.refused?.(event));
    },
    paused: (event) => {
      each((observer) => observer.paused?.(event));
    },
    storeLost: (event) => {
      each((observer) => observer.storeLost?.(event));
    },
    storeFound: (event) => {
      each((observer) => observer.storeFound?.(event));
    },
    retried: (event) => {
      each((observer) => observer.retried?.(event));
    },
  };
}
