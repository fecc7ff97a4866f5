import type { AcquireOptions, Limiter } from "../rate-limit/limiter.js";
import type { WaitingLine } from "../rate-limit/line/waiting-line.js";
import { StoreUnavailableError } from "./errors.js";
import type { Outage } from "./outage.js";

/** What `acquire` does while the store is out of reach. */
export type StorePolicy = "wait" | "throw" | Limiter;

/** Waits for `n` tokens, whatever the store does. */
export type AcquireOfStore = (n: number, options: AcquireOptions | undefined) => Promise<void>;

/**
 * Makes what `acquire` does.
 *
 * @param line - Of an impatient meter, unless the policy is to wait.
 * @param probe - Finds out whether the store is back, when it is time for it.
 */
export function acquireBy(
  policy: StorePolicy,
  line: WaitingLine<number>,
  outage: Outage,
  probe: () => void,
): AcquireOfStore {
  const { clock } = line;
  const join: AcquireOfStore = (n, options) => line.acquire(n, options, n === 0);
  /** What a call that needs the store would fail with. */
  const outageAt = (n: number): StoreUnavailableError | undefined =>
    n === 0 || line.isClosed ? undefined : outage.error;

  if (policy === "wait") return join;

  if (policy === "throw") {
    return (n, options) => {
      const error = outageAt(n);
      // Not each with a deadline of its own: they fail at once, and now and then one tries.
      return error !== undefined && clock.now() < outage.until ? Promise.reject(error) : join(n, options);
    };
  }

  const joinOrFallBack = async (n: number, options: AcquireOptions | undefined): Promise<void> => {
    const startedAt = clock.now();
    if (outageAt(n) === undefined) {
      try {
        await join(n, options);
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
      }
    } else probe();
    const { maxWaitMs = Infinity } = options ?? {};
    const leftMs = Math.max(0, maxWaitMs - (clock.now() - startedAt));
    await policy.acquire(n, { ...options, maxWaitMs: leftMs });
  };
  return (n, options) => {
    const granted = joinOrFallBack(n, options);
    // As the line does it: a rejection of many at once must not end the process.
    granted.catch(() => undefined);
    return granted;
  };
}
