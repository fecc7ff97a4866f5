/** 100,000 callers wait, each with a signal of its own, and every other one is aborted. */
import { RateLimiter } from "tidegate/rate-limit";
import { ManualClock } from "tidegate/testing";
import { cpuMs } from "../support/cpu-time.mjs";
import { alternate } from "../support/fresh-process.mjs";
import { formatRatio, median, ratioOf, samplesOf } from "../support/statistics.mjs";
import { goalVerdict, promiseVerdict } from "../support/table.mjs";

const ROUNDS = 3;
const GOAL = 1.3;
const WAITERS = 100_000;
const WARM_UP = 1;
const SAMPLES = 2;
const RATE = 1_000;

export const contestants = {
  /** What the platform takes: a signal with one listener, a pending promise, and the rejection of every other one. */
  floor: () =>
    msPerRun(() => {
      const resolves = [];
      return (signal) =>
        new Promise((resolve, reject) => {
          resolves.push(resolve);
          signal.addEventListener("abort", () => {
            reject(signal.reason);
          });
        });
    }),
  ours: () =>
    msPerRun(() => {
      const limiter = new RateLimiter({ maxRowsPerSecond: RATE, initialTokens: 0, clock: new ManualClock() });
      return (signal) => limiter.acquire(1, { signal });
    }),
  /** Not timed: who survives, in what order, and when, on a clock that is moved by hand. */
  async check() {
    const clock = new ManualClock();
    const limiter = new RateLimiter({
      maxRowsPerSecond: RATE,
      burstWindowSecs: 0,
      initialTokens: 0,
      clock,
    });
    const grants = [];
    const wait = (signal, caller) =>
      limiter.acquire(1, { signal }).then(() => grants.push({ caller, at: clock.now() }));
    const rejected = await abortEveryOther(wait);
    await clock.advance((WAITERS / 2 / RATE) * 1000);
    const wrong = grants.findIndex(({ caller }, index) => caller !== index * 2 + 1);
    const late = grants.findIndex(({ at }, index) => Math.abs(at - ((index + 1) * 1000) / RATE) > 1e-6);
    return { rejected, granted: grants.length, wrong, late };
  },
};

export async function measure() {
  const { floor, ours, check } = {
    ...(await alternate("aborts", ["floor", "ours"], ROUNDS)),
    ...(await alternate("aborts", ["check"], 1)),
  };
  const ratio = ratioOf(ours, floor);
  const faults = faultsOf(check[0]);
  return {
    title: `CPU time; ${WAITERS.toLocaleString("en")} wait, each with its own signal, every other one aborts`,
    rows: [
      { what: "floor: signals, listeners, promises", figure: `${median(floor).toFixed(0)} ms` },
      {
        what: "acquire(1, { signal })",
        figure: `${median(ours).toFixed(0)} ms`,
        ratio: formatRatio(ratio),
        goal: `at most ${String(GOAL)}x`,
        verdict: goalVerdict(ratio.median <= GOAL),
      },
      {
        what: "survivors",
        figure: `${check[0].granted.toLocaleString("en")} granted`,
        goal: "in order, at the rate",
        verdict: promiseVerdict(faults),
      },
    ],
    faults,
  };
}

function faultsOf({ rejected, granted, wrong, late }) {
  const faults = [];
  if (rejected !== WAITERS / 2)
    faults.push(`${String(rejected)} of ${String(WAITERS / 2)} aborted calls rejected`);
  if (granted !== WAITERS / 2)
    faults.push(`${String(granted)} of ${String(WAITERS / 2)} survivors were granted`);
  if (wrong !== -1) faults.push(`order is broken among the survivors, at grant ${String(wrong)}`);
  if (late !== -1) faults.push(`survivors do not come at the rate, from grant ${String(late)} on`);
  return faults;
}

async function msPerRun(prepare) {
  const samples = await samplesOf(WARM_UP, SAMPLES, async () => {
    globalThis.gc();
    const wait = prepare();
    const started = cpuMs();
    await abortEveryOther(wait);
    return cpuMs() - started;
  });
  return median(samples);
}

/** @returns How many calls were rejected with the reason of their own signal. */
async function abortEveryOther(wait) {
  const reason = new Error("given up");
  const controllers = [];
  let rejected = 0;
  const count = (error) => {
    if (error === reason) rejected += 1;
  };
  const leaving = [];
  for (let caller = 0; caller < WAITERS; caller += 1) {
    const controller = new AbortController();
    controllers.push(controller);
    const call = wait(controller.signal, caller);
    if (caller % 2 === 0) leaving.push(call.catch(count));
  }
  for (let caller = 0; caller < WAITERS; caller += 2) controllers[caller].abort(reason);
  await Promise.all(leaving);
  return rejected;
}
