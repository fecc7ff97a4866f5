import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { RateLimiter } from "../../src/rate-limit/index.js";
import { ProgramRunner } from "./rate-limit-program.js";

// Limiters on the real clock. The machine may be busy, so what it takes away is counted.

let programs: ProgramRunner;

beforeAll(async () => {
  programs = await ProgramRunner.create();
}, 60_000);

afterAll(async () => {
  await programs.remove();
});

afterEach(() => {
  jest.useRealTimers();
});

const RATE = 5_000;

/** Queues 5,000 calls at once; when each was granted, in milliseconds from before the limiter was made. */
async function grantTimes(name: string, burstWindowSecs: number): Promise<number[]> {
  return (await programs.evaluate(
    name,
    `import { RateLimiter } from "./tidegate.mjs";
     const start = performance.now();
     const limiter = new RateLimiter({ maxRowsPerSecond: ${String(RATE)}, burstWindowSecs: ${String(burstWindowSecs)} });
     const times = [];
     const calls = [];
     for (let call = 0; call < 5_000; call += 1) {
       calls.push(limiter.acquire().then(() => times.push(performance.now() - start)));
     }
     await Promise.all(calls);
     console.log(JSON.stringify(times));`,
  )) as number[];
}

/** The time that timers later than 5 ms have cost: by design it is lost, and a busy machine makes them late. */
function lostMs(times: readonly number[]): number {
  return times.reduce((lost, at, index) => lost + Math.max(0, at - (times[index - 1] ?? 0) - 5), 0);
}

test.each([
  { name: "with a burst of 50", burstWindowSecs: 0.01, capacity: 50, atLeast: 985, atMost: 1_150 },
  { name: "with strict spacing", burstWindowSecs: 0, capacity: 1, atLeast: 990, atMost: 1_200 },
])(
  "F18: 5,000/s $name reaches 5,000/s, and never more",
  async ({ name, burstWindowSecs, capacity, atLeast, atMost }) => {
    const times = await grantTimes(name.replaceAll(" ", "-"), burstWindowSecs);
    expect(times).toHaveLength(5_000);
    const beyond = times.filter((at, index) => index + 1 > capacity + (RATE * (at + 5)) / 1_000);
    expect(beyond).toEqual([]);
    const last = times.at(-1) as number;
    expect(last).toBeGreaterThan(atLeast);
    expect(last - lostMs(times)).toBeLessThanOrEqual(atMost);
  },
  60_000,
);

describe("F24: only Date is mocked", () => {
  test.each([
    ["yesterday", -24 * 3_600_000],
    ["tomorrow", 24 * 3_600_000],
  ])("set to %s: a caller waits its 100 ms", async (_day, by) => {
    jest.useFakeTimers({
      now: Date.now() + by,
      doNotFake: [
        ...([
          "setTimeout",
          "clearTimeout",
          "setInterval",
          "clearInterval",
          "setImmediate",
          "clearImmediate",
        ] as const),
        ...(["performance", "hrtime", "nextTick", "queueMicrotask"] as const),
      ],
    });
    const limiter = new RateLimiter({ maxRowsPerSecond: 10, burstWindowSecs: 0 });
    const start = performance.now();
    await limiter.acquire();
    await limiter.acquire();
    const elapsed = performance.now() - start;
    expect(elapsed).toBeGreaterThanOrEqual(100 - 0.01);
    expect(elapsed).toBeLessThan(1_000);
  });
});

test("60/s, whose spacing is no whole number of milliseconds, is not faster (M3)", async () => {
  const limiter = new RateLimiter({ maxRowsPerSecond: 60, burstWindowSecs: 0 });
  const start = performance.now();
  await limiter.acquire();
  for (let call = 1; call <= 20; call += 1) {
    await limiter.acquire();
    expect(performance.now() - start).toBeGreaterThanOrEqual((call * 1_000) / 60 - 0.01);
  }
});

test("the millionth grant of a backlog is at its exact place", async () => {
  const drift = await programs.evaluate(
    "drift",
    `import { RateLimiter } from "./tidegate.mjs";
     // A clock that jumps to whatever timer is next: a million waits in a moment.
     function jumpingClock() {
       let time = 0;
       let next;
       return {
         now: () => time,
         schedule: (delay, callback) => {
           const timer = (next = { at: time + delay, callback });
           return () => { if (next === timer) next = undefined; };
         },
         jump() {
           const timer = next;
           next = undefined;
           time = timer.at;
           timer.callback();
         },
       };
     }
     const worst = {};
     for (const rate of [3, 1 / 86_400]) {
       const clock = jumpingClock();
       const limiter = new RateLimiter({ maxRowsPerSecond: rate, burstWindowSecs: 0, clock });
       limiter.tryAcquire();
       let off = 0;
       for (let batch = 0; batch < 1_000; batch += 1) {
         for (let call = 0; call < 1_000; call += 1) limiter.acquire();
         // The last one stays in line until the next batch is there: the backlog never ends.
         while (limiter.stats().queued > 1) {
           clock.jump();
           const place = ((limiter.stats().granted - 1) * 1_000) / rate;
           // In nanoseconds, beyond what doubles of that size can tell apart.
           off = Math.max(off, (Math.abs(clock.now() - place) - place * 2 ** -52) * 1e6);
         }
       }
       worst[rate] = { granted: limiter.stats().granted, off };
       limiter.close();
     }
     console.log(JSON.stringify(worst));`,
  );
  const results = Object.values(drift as Record<string, { granted: number; off: number }>);
  expect(results).toHaveLength(2);
  for (const { granted, off } of results) {
    expect(granted).toBe(1_000_000);
    expect(off).toBeLessThanOrEqual(1);
  }
}, 180_000);
