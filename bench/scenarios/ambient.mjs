/** A run is aborted while 10,000 of its calls wait at a limiter; none of them was given a signal. */
import { App, RateLimiter, stop } from "tidegate";
import { cpuMs } from "../support/cpu-time.mjs";
import { alternate } from "../support/fresh-process.mjs";
import { formatRatio, median, ratioOf, samplesOf } from "../support/statistics.mjs";
import { goalVerdict, promiseVerdict } from "../support/table.mjs";

const ROUNDS = 5;
const GOAL_US = 20;
const WAITERS = 10_000;
const WARM_UP = 3;
const SAMPLES = 10;

export const contestants = {
  /** Pending promises, rejected in a loop. */
  floor: () =>
    release(async (reason) => {
      const rejects = [];
      const calls = Array.from({ length: WAITERS }, () => new Promise((_, reject) => rejects.push(reject)));
      return { calls, abort: () => rejects.forEach((reject) => reject(reason)), end: Promise.resolve() };
    }),
  async ours() {
    const limiter = new RateLimiter({ maxRowsPerSecond: 0.001, initialTokens: 0 });
    const result = await release(async (reason) => {
      const { promise: calls, resolve: waiting } = promiseWithResolver();
      const app = new App("bench", () => {
        const waits = Array.from({ length: WAITERS }, () => limiter.acquire());
        waiting({ waits });
        return Promise.allSettled(waits);
      });
      const run = app.run();
      const end = run.result().catch(() => undefined);
      return { calls: (await calls).waits, abort: () => run.abort(reason), end };
    });
    await stop();
    return result;
  },
};

export async function measure() {
  const { floor, ours } = await alternate("ambient", ["floor", "ours"], ROUNDS);
  const us = ours.map((result) => result.us);
  const floorUs = floor.map((result) => result.us);
  const least = Math.min(...ours.map((result) => result.inOneTurn));
  const faults = [];
  if (least !== WAITERS)
    faults.push(`${String(least)} of ${String(WAITERS)} calls were released in one turn`);
  return {
    title: `CPU time; a run is aborted while ${WAITERS.toLocaleString("en")} of its calls wait`,
    rows: [
      { what: "floor: reject pending promises", figure: `${median(floorUs).toFixed(2)} µs each` },
      {
        what: "abort of the run, until all have rejected",
        figure: `${median(us).toFixed(2)} µs each`,
        ratio: formatRatio(ratioOf(us, floorUs)),
        goal: `under ${String(GOAL_US)} µs each`,
        verdict: goalVerdict(median(us) < GOAL_US),
      },
      {
        what: "released with the reason in one turn of the event loop",
        figure: least.toLocaleString("en"),
        goal: "all",
        verdict: promiseVerdict(faults),
      },
    ],
    faults,
  };
}

/**
 * Aborts waiting calls again and again.
 *
 * @param {(reason: Error) => Promise<{ calls: Promise<unknown>[], abort: () => void, end: Promise<unknown> }>} wait
 * @returns CPU time for one call, and how many at least had rejected when the next turn of the event loop began.
 */
async function release(wait) {
  let inOneTurn = WAITERS;
  const samples = await samplesOf(WARM_UP, SAMPLES, async () => {
    const reason = new Error("given up");
    let released = 0;
    const count = (error) => {
      if (error === reason) released += 1;
    };
    const { calls, abort, end } = await wait(reason);
    const counted = calls.map((call) => call.catch(count));
    const nextTurn = new Promise((resolve) => setImmediate(() => resolve(released)));
    const started = cpuMs();
    abort();
    await Promise.all(counted);
    const elapsed = cpuMs() - started;
    inOneTurn = Math.min(inOneTurn, await nextTurn);
    await end;
    return (elapsed * 1000) / WAITERS;
  });
  return { us: median(samples), inOneTurn };
}

function promiseWithResolver() {
  let resolve;
  const promise = new Promise((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
