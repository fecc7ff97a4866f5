import { cpuMs } from "../../support/cpu-time.mjs";
import { median, samplesOf } from "../../support/statistics.mjs";
import { plainLimiter } from "../calls.mjs";

const SHAPE = { rate: 100_000, burst: 100_000, waits: false };
const CALLS = 20_000;
/** Calls between two looks at the clock. */
const BATCH = 50;
/** A sample ends early after this time, so that a slow contestant does not take minutes. */
const SAMPLE_MS = 150;
const WARM_UP = 3;
const SAMPLES = 9;

/** @type {Omit<import("../rows.mjs").Row, "name">} */
export default {
  of: "limiters",
  title: "One call while tokens are there",
  how: `100,000 permits are free, so that nobody waits; one call after the other, each awaited, at most ${CALLS.toLocaleString("en")} in a sample. CPU time, and the time on the clock until the caller goes on.`,
  rounds: 3,
  metrics: [
    { key: "cpuNs", label: "CPU, ns", better: "less" },
    { key: "ns", label: "time, ns", better: "less" },
  ],
  async measure(adapter) {
    const samples = await samplesOf(WARM_UP, SAMPLES, async () => {
      const call = await plainLimiter(adapter, SHAPE);
      const cpuBefore = cpuMs();
      const started = performance.now();
      let calls = 0;
      do {
        for (let count = 0; count < BATCH; count += 1) await call();
        calls += BATCH;
      } while (calls < CALLS && performance.now() - started < SAMPLE_MS);
      const elapsed = performance.now() - started;
      return { cpuNs: ((cpuMs() - cpuBefore) * 1e6) / calls, ns: (elapsed * 1e6) / calls };
    });
    return { cpuNs: median(samples.map(({ cpuNs }) => cpuNs)), ns: median(samples.map(({ ns }) => ns)) };
  },
};
