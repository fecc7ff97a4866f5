import { afterEach, describe, expect, test } from "@jest/globals";
import { observeLimiters, RateBudget, RateLimiter } from "../../../src/rate-limit/index.js";
import { ManualClock } from "../../../src/testing/index.js";

let stopWatching = (): void => undefined;
afterEach(() => {
  stopWatching();
});

describe("an observer that calls the limiter back", () => {
  test("is told of a head that has left when its saved tokens are gone", async () => {
    const clock = new ManualClock();
    const limiter = new RateLimiter({ maxRowsPerSecond: 10, clock });
    limiter.tryAcquire(10);
    const controller = new AbortController();
    limiter.acquire(1_000, { signal: controller.signal }).catch(() => undefined);
    await clock.advance(90_000); // it has saved 900
    let taken = 0;
    stopWatching = observeLimiters({
      left: () => {
        while (limiter.tryAcquire(10)) taken += 10;
      },
    });
    controller.abort();
    expect(taken).toBe(10);
  });

  test("is told of the last grant when what a late timer has left is gone", async () => {
    const clock = new ManualClock();
    let lateMs = 0;
    const late = {
      now: () => clock.now(),
      schedule: (ms: number, ring: () => void) => clock.schedule(ms + lateMs, ring),
    };
    const limiter = new RateLimiter({ maxRowsPerSecond: 1_000, burstWindowSecs: 0, clock: late });
    limiter.tryAcquire();
    lateMs = 5;
    const waiting = limiter.acquire();
    let taken = 0;
    stopWatching = observeLimiters({
      granted: () => {
        while (limiter.tryAcquire()) taken += 1;
      },
    });
    await clock.advance(6);
    await waiting;
    expect(taken).toBeLessThanOrEqual(1);
  });
});

describe("a clock of another make", () => {
  test("that skips the time and calls at once serves everybody", async () => {
    let now = 0;
    const clock = {
      now: () => now,
      schedule(ms: number, ring: () => void): () => void {
        now += ms;
        ring();
        return () => undefined;
      },
    };
    const limiter = new RateLimiter({ maxRowsPerSecond: 1, burstWindowSecs: 0, clock });
    for (let call = 0; call < 5; call += 1) await limiter.acquire();
    expect(limiter.stats()).toMatchObject({ granted: 5, queued: 0 });
    expect(now).toBeGreaterThanOrEqual(4_000);
  });

  test("that cannot set a timer rejects the call, and the next one finds the line as it was", async () => {
    const manual = new ManualClock();
    let isBroken = true;
    const clock = {
      now: () => manual.now(),
      schedule(ms: number, ring: () => void): () => void {
        if (isBroken) throw new Error("no timer");
        return manual.schedule(ms, ring);
      },
    };
    const limiter = new RateLimiter({ maxRowsPerSecond: 1, clock });
    await limiter.acquire();
    await expect(limiter.acquire()).rejects.toThrow("no timer");
    expect(limiter.stats()).toMatchObject({ queued: 0, queuedTokens: 0 });
    isBroken = false;
    const waiting = limiter.acquire();
    await manual.advance(1_000);
    await waiting;
    expect(limiter.stats().granted).toBe(2);
  });

  test("whose cancel throws lets those who waited go all the same", async () => {
    const clock = {
      now: () => 0,
      schedule: (): (() => void) => () => {
        throw new Error("no cancel");
      },
    };
    const limiter = new RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0, clock });
    const over = limiter.acquire().catch((reason: unknown) => reason);
    expect(() => {
      limiter.close("night");
    }).toThrow("no cancel");
    expect(await over).toMatchObject({ code: "LIMITER_CLOSED", cause: "night" });
  });
});

test("a signal that is not the target of its own event is followed too", async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0, clock });
  const ahead = limiter.acquire();
  let listener: ((event: Event) => void) | undefined;
  const signal = {
    aborted: false,
    reason: undefined as unknown,
    addEventListener: (_: string, given: (event: Event) => void) => (listener = given),
    removeEventListener: () => undefined,
  };
  const waiting = limiter.acquire(1, { signal: signal as unknown as AbortSignal });
  signal.aborted = true;
  signal.reason = "gone";
  listener?.({ target: null } as unknown as Event);
  await expect(waiting).rejects.toBe("gone");
  expect(limiter.stats().queued).toBe(1);
  await clock.advance(1_000);
  await ahead;
});

test("a budget that has run for days does not drift either", async () => {
  const clock = new ManualClock();
  await clock.advance(1e9);
  const budget = new RateBudget({ calls: { maxRowsPerSecond: 3, burstWindowSecs: 0 } }, { clock });
  budget.tryAcquire({ calls: 1 });
  let last = 0;
  const calls = 2_000;
  for (let call = 0; call < calls; call += 1) {
    void budget.acquire({ calls: 1 }).then(() => (last = clock.now()));
  }
  await clock.advance((calls * 1_000) / 3 + 1);
  expect(Math.abs(last - 1e9 - (calls * 1_000) / 3)).toBeLessThanOrEqual(1e-6);
});
