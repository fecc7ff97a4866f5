import { cpuMs } from "../../support/cpu-time.mjs";
import { median } from "../../support/statistics.mjs";
import { plainLimiter } from "../calls.mjs";

/** So fast that waking up costs little next to the line itself. */
const SHAPE = { rate: 100_000, burst: 1_000, waits: true };
const CALLERS = 10_000;
const WARM_UP_CALLERS = 2_000;
const WARM_UP = 3;
const SAMPLES = 7;
/** A slow contestant gets no more samples, and no more to warm up, after this time. */
const TIME_MS = 1_500;

/** @type {Omit<import("../rows.mjs").Row, "name">} */
export default {
  of: "limiters",
  title: "A backlog: 10,000 callers wait and are granted",
  how: "10,000 calls in one turn at 100,000/s, 1,000 at once, until the last is granted: CPU time for each call, and the time that all of them take, which is 90 ms at that rate; up to 120 ms counts as that.",
  rounds: 3,
  metrics: [
    { key: "cpuUs", label: "CPU per call, µs", better: "less", digits: 2 },
    { key: "ms", label: "until all are granted, ms", better: "less", ratio: false, enough: 120 },
  ],
  async measure(adapter) {
    await repeat(WARM_UP, () => backlog(adapter, WARM_UP_CALLERS));
    const samples = await repeat(SAMPLES, () => backlog(adapter, CALLERS));
    return {
      cpuUs: median(samples.map(({ cpuUs }) => cpuUs)),
      ms: median(samples.map(({ ms }) => ms)),
    };
  },
};

async function repeat(times, sample) {
  const started = performance.now();
  const results = [];
  do results.push(await sample());
  while (results.length < times && performance.now() - started < TIME_MS);
  return results;
}

async function backlog(adapter, callers) {
  const call = await plainLimiter(adapter, SHAPE);
  globalThis.gc(); // nobody pays for the garbage of the sample before
  const started = performance.now();
  const cpuBefore = cpuMs();
  await Promise.all(Array.from({ length: callers }, () => call()));
  return { cpuUs: ((cpuMs() - cpuBefore) * 1000) / callers, ms: performance.now() - started };
}
