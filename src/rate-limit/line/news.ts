import { limiterObserver } from "../../internal/limiter-observer.js";
import { type Waiter, waitOf } from "./waiter.js";

// Observers may call the limiter back. So they are told when a change is complete, not in the middle of it.

export function tellGranted<C, R>(limiter: string, waiter: Waiter<C, R>, now: number): void {
  limiterObserver()?.granted({ limiter, cost: waiter.cost, waitedMs: waitOf(waiter, now) });
}

export function tellLeft<C, R>(
  limiter: string,
  gone: readonly (readonly [waiter: Waiter<C, R>, reason: unknown])[],
  now: number,
): void {
  for (const [waiter, reason] of gone) {
    limiterObserver()?.left({ limiter, cost: waiter.cost, waitedMs: waitOf(waiter, now), reason });
  }
}
