import { registry } from "../internal/registry.js";

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
 */
export interface LimiterObserver {
  /** A caller has joined the line. */
  waited?(event: LimiterEvent): void;
  /** A caller has its tokens. `waitedMs` is 0 for one that did not wait, or had joined before anyone watched. */
  granted?(event: LimiterEvent & { readonly waitedMs: number }): void;
  /** A caller has left the line without tokens, because of `reason`. */
  left?(event: LimiterEvent & { readonly waitedMs: number; readonly reason: unknown }): void;
  /** A limiter grants nothing for the next `ms` milliseconds. */
  paused?(event: { readonly limiter: string; readonly ms: number }): void;
}

/**
 * Watches every limiter of the process from now on, those of other copies of the package too. While nobody watches,
 * a limiter only checks that nobody does.
 *
 * @returns Ends the watching.
 */
export function observeLimiters(observer: LimiterObserver): () => void {
  const shared = registry();
  const watching = new Set((shared.limiterObserver as Fanout | undefined)?.observers).add(observer);
  shared.limiterObserver = fanOut(watching);
  return () => {
    const rest = new Set((shared.limiterObserver as Fanout | undefined)?.observers);
    rest.delete(observer);
    shared.limiterObserver = rest.size === 0 ? undefined : fanOut(rest);
  };
}

/** The observers as one; undefined while nobody watches. */
export function limiterObserver(): Required<LimiterObserver> | undefined {
  return registry().limiterObserver as Fanout | undefined;
}

interface Fanout extends Required<LimiterObserver> {
  readonly observers: ReadonlySet<LimiterObserver>;
}

function fanOut(observers: ReadonlySet<LimiterObserver>): Fanout {
  const each = (tell: (observer: LimiterObserver) => void): void => {
    for (const observer of observers) {
      try {
        tell(observer);
      } catch {
        // A watcher must not change what it watches.
      }
    }
  };
  return {
    observers,
    waited: (event) => {
      each((observer) => observer.waited?.(event));
    },
    granted: (event) => {
      each((observer) => observer.granted?.(event));
    },
    left: (event) => {
      each((observer) => observer.left?.(event));
    },
    paused: (event) => {
      each((observer) => observer.paused?.(event));
    },
  };
}
