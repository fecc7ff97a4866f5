import { limiterObserver } from "../../internal/limiter-observer.js";
import { callOf, type Waiter, waitOf } from "./waiter.js";

// Observers may call the limiter back. So they are told when a change is complete, not in the middle of it.

/** Not of one who is gone already: a clock that skips the time, or sets no timer, has told of that. */
export function tellWaited<C, R>(limiter: string, waiter: Waiter<C, R>): void {
  const call = callOf(waiter);
  if (call !== undefined && waiter.next !== undefined)
    limiterObserver()?.waited({ limiter, cost: waiter.cost, call });
}

export function tellGranted<C, R>(limiter: string, waiter: Waiter<C, R>, now: number): void {
  limiterObserver()?.granted({
    limiter,
    cost: waiter.cost,
    waitedMs: waitOf(waiter, now),
    call: callOf(waiter),
  });
}

export function tellLeft<C, R>(
  limiter: string,
  gone: readonly (readonly [waiter: Waiter<C, R>, reason: unknown])[],
  now: number,
): void {
  for (const [waiter, reason] of gone) {
    const waitedMs = waitOf(waiter, now);
    limiterObserver()?.left({ limiter, cost: waiter.cost, waitedMs, reason, call: callOf(waiter) });
  }
}
