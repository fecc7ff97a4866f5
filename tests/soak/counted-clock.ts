import { type Clock, systemClock } from "../../src/clock.js";

/** The system's clock, which counts its timers and knows when it was last asked. */
export class CountedClock implements Clock {
  /** Timers that are armed: neither fired nor cancelled. */
  pending = 0;
  /** What the latest reading has given: to a limiter that grants, the time of the grant. */
  latest = 0;

  now(): number {
    this.latest = systemClock.now();
    return this.latest;
  }

  schedule(delayMs: number, callback: () => void): () => void {
    let isArmed = true;
    this.pending += 1;
    const disarm = (): void => {
      if (isArmed) this.pending -= 1;
      isArmed = false;
    };
    const cancel = systemClock.schedule(delayMs, () => {
      disarm();
      callback();
    });
    return () => {
      disarm();
      cancel();
    };
  }
}
