import type { AcquireOptions } from "../rate-limit/limiter.js";
import type { WaitingLine } from "../rate-limit/line/waiting-line.js";
import { StoreUnavailableError } from "./errors.js";
import type { Outage } from "./outage.js";

/** What stands in for a limiter while its store is out of reach. */
export interface Fallback<C, R> {
  acquire(cost: C, options: AcquireOptions | undefined): Promise<R>;
}

/** Waits for a cost, whatever the store does. @param free - The cost is nothing. */
export type AcquireOfStore<C, R> = (
  cost: C,
  options: AcquireOptions | undefined,
  free: boolean,
) => Promise<R>;

export interface AcquirePlan<C, R> {
  readonly line: WaitingLine<C, R>;
  readonly outage: Outage;
  /** Whether the line rejects those in it when the store is out of reach. */
  readonly isImpatient: boolean;
  readonly fallback: Fallback<C, R> | undefined;
  /** Finds out whether the store is back, when it is time for it. */
  readonly probe: () => void;
}

/** Makes what `acquire` does. */
export function acquireBy<C, R>(plan: AcquirePlan<C, R>): AcquireOfStore<C, R> {
  const { line, outage, isImpatient, fallback, probe } = plan;
  const { clock } = line;
  const join: AcquireOfStore<C, R> = (cost, options, free) => line.acquire(cost, options, free);
  if (!isImpatient) return join;

  /** What a call that needs the store would fail with. */
  const outageAt = (free: boolean): StoreUnavailableError | undefined =>
    free || line.isClosed ? undefined : outage.error;

  if (fallback === undefined) {
    return (cost, options, free) => {
      const error = outageAt(free);
      // Not each with a deadline of its own: they fail at once, and now and then one tries.
      return error !== undefined && clock.now() < outage.until
        ? Promise.reject(error)
        : join(cost, options, free);
    };
  }

  const joinOrFallBack = async (cost: C, options: AcquireOptions | undefined, free: boolean): Promise<R> => {
    const startedAt = clock.now();
    if (outageAt(free) === undefined) {
      try {
        return await join(cost, options, free);
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
      }
    } else probe();
    const { maxWaitMs = Infinity } = options ?? {};
    const leftMs = Math.max(0, maxWaitMs - (clock.now() - startedAt));
    return fallback.acquire(cost, { ...options, maxWaitMs: leftMs });
  };
  return (cost, options, free) => {
    const granted = joinOrFallBack(cost, options, free);
    // As the line does it: a rejection of many at once must not end the process.
    granted.catch(() => undefined);
    return granted;
  };
}
