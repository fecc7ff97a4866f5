import { describe, expect, jest, test } from "@jest/globals";
import { InvalidArgumentError } from "../../../src/errors.js";
import { RateLimiter, WaitTooLongError } from "../../../src/rate-limit/index.js";
import { heapInUse } from "./support/memory.js";
import { labels, setUp } from "./support/set-up.js";

// Some of these are much work for a machine that is busy.
jest.setTimeout(30_000);

// Faults that users of other libraries have reported, replayed: callers that leave,
// and what waiting costs.

const MAX_DELAY_MS = 2_147_483_647;
const MB = 1024 * 1024;

test("F05: a call with an aborted signal is refused at once, also behind others", async () => {
  const { clock, limiter, trace, acquire } = setUp(1, 1);
  const reason = { why: "R" };
  acquire("first");
  acquire("P", 1, { signal: AbortSignal.abort(reason) });
  expect(limiter.stats().queued).toBe(0);
  acquire("Q");
  expect(limiter.stats().queued).toBe(1);
  await clock.advance(0);
  expect(trace.events).toEqual(["first t0", "P failed t0"]);
  expect(trace.reasonOf("P")).toBe(reason);
  await clock.advance(1_000);
  expect(trace.events).toEqual(["first t0", "P failed t0", "Q t1000"]);
});

test("F07: an abort lets all of its callers go at once", async () => {
  const { clock, limiter, trace, acquire } = setUp(1, 1);
  const leave = new AbortController();
  const names = labels("a", 50);
  for (const label of names) acquire(label, 1, { signal: leave.signal });
  await clock.advance(1_500);
  leave.abort(new Error("enough"));
  acquire("N");
  expect(limiter.stats().queued).toBe(1);
  expect(clock.pending).toBe(1);
  await clock.advance(10_000);
  expect(trace.events).toEqual([
    ...["a1 t0", "a2 t1000"],
    ...names.slice(2).map((name) => `${name} failed t1500`),
    "N t2000",
  ]);
  expect(new Set(names.slice(2).map((name) => trace.reasonOf(name)))).toEqual(new Set([leave.signal.reason]));
  expect(clock.pending).toBe(0);
});

test("F12: a wait that is longer than a timer can take is made of several", async () => {
  const days30 = 30 * 24 * 3_600_000;
  const { clock, trace, acquire } = setUp(1_000 / days30, 1);
  acquire("first");
  acquire("P");
  for (const look of [1, 1_000, MAX_DELAY_MS, MAX_DELAY_MS + 1]) {
    await clock.advance(look - clock.now());
    expect(trace.events).toEqual(["first t0"]);
  }
  await clock.advance(days30 - clock.now() - 0.001);
  expect(trace.events).toEqual(["first t0"]);
  await clock.advance(0.002);
  expect(trace.events).toEqual(["first t0", `P t${String(days30)}`]);
  expect(Math.max(...clock.delays)).toBeLessThanOrEqual(MAX_DELAY_MS);
  expect(clock.delays.length).toBeLessThanOrEqual(3);
});

test("F13: 40,000 callers cost one timer, little time, and nothing once they have left", async () => {
  const { clock, limiter } = setUp(1 / 60, 1);
  const before = await heapInUse();
  const few = [await queueAndAbort(limiter, 2_000), await queueAndAbort(limiter, 2_000)];
  const many = [await queueAndAbort(limiter, 40_000), await queueAndAbort(limiter, 40_000)];
  expect([...few, ...many].map(({ failures }) => failures)).toEqual([1_999, 2_000, 40_000, 40_000]);
  // Twenty times as many take about twenty times as long; if each looked at all others it would be four hundred times.
  const least = (rounds: typeof few, of: "queueMs" | "abortMs"): number =>
    Math.min(...rounds.map((round) => round[of]));
  expect(least(many, "queueMs")).toBeLessThan(150 * Math.max(1, least(few, "queueMs")));
  expect(least(many, "abortMs")).toBeLessThan(150 * Math.max(1, least(few, "abortMs")));
  expect(clock.mostPending).toBe(1);
  expect(clock.pending).toBe(0);
  expect(Math.max(...clock.delays)).toBeLessThanOrEqual(MAX_DELAY_MS);
  expect((await heapInUse()) - before).toBeLessThan(10 * MB);
});

/** Its own function, so that nothing of it is in use afterwards. The times are those of the CPU. */
async function queueAndAbort(
  limiter: RateLimiter,
  callers: number,
): Promise<{ failures: number; queueMs: number; abortMs: number }> {
  const leave = new AbortController();
  const start = process.cpuUsage();
  const calls: Promise<void>[] = [];
  for (let call = 0; call < callers; call += 1) calls.push(limiter.acquire(1, { signal: leave.signal }));
  const queueMs = process.cpuUsage(start).user / 1_000;
  const abort = process.cpuUsage();
  leave.abort(new Error("enough"));
  const results = await Promise.allSettled(calls);
  const abortMs = process.cpuUsage(abort).user / 1_000;
  return { failures: results.filter(({ status }) => status === "rejected").length, queueMs, abortMs };
}

describe("F36: a wait that does not fit", () => {
  test("fails at once when that is known, with the error it would fail with later", async () => {
    const { clock, limiter, trace, acquire } = setUp(1, 1);
    acquire("first");
    acquire("P", 1, { maxWaitMs: 200 });
    acquire("Q");
    acquire("late", 1, { maxWaitMs: 2_500 });
    limiter.charge(1);
    await clock.advance(10_000);
    expect(trace.events).toEqual(["first t0", "P failed t0", "Q t2000", "late failed t2500"]);
    for (const label of ["P", "late"]) {
      expect(trace.reasonOf(label)).toBeInstanceOf(WaitTooLongError);
      expect(trace.reasonOf(label)).toMatchObject({ code: "WAIT_TOO_LONG" });
    }
  });

  test("a call whose time is over already spends nothing, tokens or not", async () => {
    const { limiter } = setUp(1, 1);
    await expect(limiter.acquire(1, { maxWaitMs: -1 })).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(limiter.acquire(1, { signal: AbortSignal.abort("late") })).rejects.toBe("late");
    expect(limiter.stats().available).toBe(1);
  });

  test("a call that is due exactly at its deadline is granted", async () => {
    const { clock, trace, acquire } = setUp(1, 1);
    acquire("first");
    acquire("S", 1, { maxWaitMs: 1_000 });
    acquire("T", 1, { maxWaitMs: 2_000 });
    await clock.advance(5_000);
    expect(trace.events).toEqual(["first t0", "S t1000", "T t2000"]);
  });
});

test("F39: a long-lived signal keeps nothing of the calls that it was given to", async () => {
  const { clock, limiter } = setUp(Infinity, Infinity, { burstWindowSecs: 1 });
  const { signal } = new AbortController();
  for (let call = 0; call < 1_000; call += 1) await limiter.acquire(1, { signal, maxWaitMs: 60_000 });
  const before = await heapInUse();
  for (let call = 0; call < 200_000; call += 1) await limiter.acquire(1, { signal, maxWaitMs: 60_000 });
  expect((await heapInUse()) - before).toBeLessThan(10 * MB);
  expect(clock.delays).toEqual([]);
});

test("F39: nor of those that had to wait", async () => {
  const { clock, limiter } = setUp(1_000, 100);
  const { signal } = new AbortController();
  const waitInTurns = async (rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      await limiter.acquire(100);
      const calls = Array.from({ length: 100 }, () => limiter.acquire(1, { signal, maxWaitMs: 60_000 }));
      limiter.refund(100);
      await Promise.all(calls);
      limiter.refund(100);
    }
  };
  await waitInTurns(10);
  const before = await heapInUse();
  await waitInTurns(500);
  expect((await heapInUse()) - before).toBeLessThan(2 * MB);
  expect(limiter.stats()).toMatchObject({ queued: 0, aborted: 0, granted: 510 * 101 });
  expect(clock.pending).toBe(0);
});
