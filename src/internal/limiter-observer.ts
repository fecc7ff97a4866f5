import { requireObject } from "./checks.js";
import { registry } from "./registry.js";

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
  requireObject("observer", observer);
  const shared = registry();
  const watching = (): readonly Watch[] => (shared.limiterObserver as Fanout | undefined)?.watches ?? [];
  const watch: Watch = { observer };
  shared.limiterObserver = fanOut([...watching(), watch]);
  return () => {
    const rest = watching().filter((other) => other !== watch);
    shared.limiterObserver = rest.length === 0 ? undefined : fanOut(rest);
  };
}

/** The observers as one; undefined while nobody watches. */
export function limiterObserver(): Required<LimiterObserver> | undefined {
  return registry().limiterObserver as Fanout | undefined;
}

/** One call of `observeLimiters`; the same observer may be given twice. */
interface Watch {
  readonly observer: LimiterObserver;
}

interface Fanout extends Required<LimiterObserver> {
  readonly watches: readonly Watch[];
}

function fanOut(watches: readonly Watch[]): Fanout {
  // A watcher must not change what it watches, whether it throws or, being async, rejects.
  const each = (tell: (observer: LimiterObserver) => unknown): void => {
    for (const { observer } of watches) {
      try {
        const told = tell(observer);
        if (told instanceof Promise) told.catch(() => undefined);
      } catch {
        continue;
      }
    }
  };
  return {
    watches,
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
    retried: (event) => {
      each((observer) => observer.retried?.(event));
    },
  };
}
