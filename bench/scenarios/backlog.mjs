/** The cost of a waiting line: queueing n callers and granting them all, for n from 1,000 to 1,000,000. */
import { RateLimiter } from "tidegate/rate-limit";
import { cpuMs } from "../support/cpu-time.mjs";
import { alternate, inFreshProcess } from "../support/fresh-process.mjs";
import { formatRatio, median, ratioOf, samplesOf } from "../support/statistics.mjs";
import { goalVerdict, promiseVerdict } from "../support/table.mjs";

const GOAL = 2;
const CASES = [
  { size: 1_000, rounds: 5 },
  { size: 10_000, rounds: 5 },
  { size: 100_000, rounds: 5 },
  { size: 1_000_000, rounds: 3 },
];
/** Waiters in one sample: small backlogs are repeated until a sample is long enough to be timed. */
const SAMPLE = 100_000;
const WARM_UP = 2;
const SAMPLES = 8;
const CHECKED = 10_000;

export const contestants = {
  floor: (size) => nsPerWaiter(size, barePromises),
  async ours(size) {
    const limiter = emptyLimiter(size);
    // Somebody always waits: when the last waiter is collected, V8 throws away the code that it made for waiters.
    const other = emptyLimiter(1);
    const waiting = other.acquire();
    const result = await nsPerWaiter(size, (waiters) => waitingAcquires(limiter, waiters));
    other.refund(1);
    await waiting;
    return result;
  },
  /** Not timed: the order of the grants, and the timers that live while callers wait. */
  async check(size) {
    const limiter = emptyLimiter(size);
    const timersBefore = liveTimers();
    const order = [];
    const calls = Array.from({ length: size }, (_, caller) =>
      limiter.acquire().then(() => order.push(caller)),
    );
    const timersDuring = liveTimers() - timersBefore;
    limiter.refund(size);
    await Promise.all(calls);
    const timersAfter = liveTimers() - timersBefore;
    return { timersDuring, timersAfter, inOrder: order.every((caller, index) => caller === index) };
  },
};

export async function measure() {
  const rows = [];
  for (const { size, rounds } of CASES) {
    const { floor, ours } = await alternate("backlog", ["floor", "ours"], rounds, size);
    const ratio = ratioOf(ours, floor);
    rows.push({
      what: `${size.toLocaleString("en")} waiting`,
      figure: `${median(ours).toFixed(0)} ns each, floor ${median(floor).toFixed(0)} ns`,
      ratio: formatRatio(ratio),
      goal: `at most ${String(GOAL)}x`,
      verdict: goalVerdict(ratio.median <= GOAL),
    });
  }
  const { timersDuring, timersAfter, inOrder } = await inFreshProcess("backlog", "check", CHECKED);
  const timerFaults = [];
  if (timersDuring !== 1) timerFaults.push(`${String(timersDuring)} timers while callers wait, not one`);
  if (timersAfter !== 0) timerFaults.push(`${String(timersAfter)} timers when nobody waits any more`);
  const orderFaults = inOrder
    ? []
    : ["order is broken: callers were granted in another order than they came"];
  rows.push({
    what: `live timers, ${CHECKED.toLocaleString("en")} waiting`,
    figure: `${String(timersDuring)}, afterwards ${String(timersAfter)}`,
    goal: "1, then 0",
    verdict: promiseVerdict(timerFaults),
  });
  rows.push({
    what: "order of the grants",
    figure: inOrder ? "as they came" : "mixed",
    goal: "as they came",
    verdict: promiseVerdict(orderFaults),
  });
  return {
    title: "CPU time of n callers that queue and are granted; floor: n pending promises, all resolved",
    rows,
    faults: [...timerFaults, ...orderFaults],
  };
}

/** CPU time for one waiter, in nanoseconds. */
async function nsPerWaiter(size, backlog) {
  const repeats = Math.max(1, SAMPLE / size);
  const isLarge = size > SAMPLE;
  const samples = await samplesOf(WARM_UP, isLarge ? 1 : SAMPLES, async (isWarmUp) => {
    const waiters = isWarmUp ? Math.min(size, SAMPLE) : size;
    globalThis.gc(); // nobody pays for the garbage of the sample before
    const started = cpuMs();
    for (let count = 0; count < repeats; count += 1) await backlog(waiters);
    return ((cpuMs() - started) * 1e6) / (repeats * waiters);
  });
  return median(samples);
}

async function barePromises(size) {
  const promises = [];
  const resolves = [];
  for (let count = 0; count < size; count += 1) {
    promises.push(new Promise((resolve) => resolves.push(resolve)));
  }
  for (const resolve of resolves) resolve();
  await Promise.all(promises);
}

async function waitingAcquires(limiter, size) {
  const promises = [];
  for (let count = 0; count < size; count += 1) promises.push(limiter.acquire());
  limiter.refund(size); // grants all of them at once, as a timer would: by waking the line
  await Promise.all(promises);
}

/** On the real clock with a real timer; has room for `size` tokens and gains none meanwhile. */
function emptyLimiter(size) {
  const maxRowsPerSecond = 0.001;
  return new RateLimiter({ maxRowsPerSecond, burstWindowSecs: size / maxRowsPerSecond, initialTokens: 0 });
}

function liveTimers() {
  return process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
}
