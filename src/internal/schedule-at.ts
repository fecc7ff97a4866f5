import { type Clock, MAX_DELAY_MS } from "../clock.js";

/**
 * Calls back once, when `clock` has come to `at`: not before, for timers may fire early, and however far off that is,
 * for timers take only so long a delay.
 *
 * @returns Cancels the call.
 */
export function scheduleAt(clock: Clock, at: number, callback: () => void): () => void {
  let cancel: () => void;
  const arm = (): void => {
    const left = Math.max(0, at - clock.now());
    cancel = clock.schedule(Math.min(left, MAX_DELAY_MS), () => {
      if (clock.now() < at) arm();
      else callback();
    });
  };
  arm();
  return () => {
    cancel();
  };
}
