import { RateBudget, RateLimiter } from "tidegate/rate-limit";
import type { ManualClock } from "tidegate/testing";
import type { Dimensions } from "./dimensions.js";

/** What a run needs of a limiter, whatever its number of dimensions. */
export interface Line {
  /** Resolves when a request is granted. */
  acquire(): Promise<unknown>;
  pause(ms: number): void;
  read(): { readonly queued: number; readonly tokens: readonly number[] };
}

/** A limiter for one dimension, a budget for two, as a program would have it. */
export function lineOf([first, second]: Dimensions, clock: ManualClock): Line {
  const one = { maxRowsPerSecond: first.rate, burstWindowSecs: first.burst };
  if (second === undefined) {
    const limiter = new RateLimiter({ ...one, clock });
    return {
      acquire: () => limiter.acquire(first.tokens),
      pause: (ms) => {
        limiter.pause(ms);
      },
      read: () => {
        const { queued, available } = limiter.stats();
        return { queued, tokens: [available] };
      },
    };
  }
  const other = { maxRowsPerSecond: second.rate, burstWindowSecs: second.burst };
  const budget = new RateBudget({ first: one, second: other }, { clock });
  const costs = { first: first.tokens, second: second.tokens };
  return {
    acquire: () => budget.acquire(costs),
    pause: (ms) => {
      budget.pause(ms);
    },
    read: () => {
      const { queued, dimensions } = budget.stats();
      return { queued, tokens: [dimensions.first.available, dimensions.second.available] };
    },
  };
}
