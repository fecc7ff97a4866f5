import { cpuMs } from "../../support/cpu-time.mjs";
import { median, samplesOf } from "../../support/statistics.mjs";

const RESOURCES = 10;
const CYCLES = 200;
const WARM_UP = 2;
const SAMPLES = 5;

/** @type {Omit<import("../rows.mjs").Row, "name">} */
export default {
  of: "containers",
  title: "Start and stop with 10 resources",
  how: "Ten resources, each built out of the one before, are declared, built and closed; opening and closing them does nothing. CPU time for all of it, and whether they are closed last first.",
  rounds: 3,
  metrics: [
    { key: "us", label: "CPU, µs", better: "less", digits: 1 },
    { key: "lastFirst", label: "closed last first", better: "yes" },
  ],
  async measure(adapter) {
    const closed = [];
    await adapter.startAndStop(resources((index) => closed.push(index)));
    if (closed.length !== RESOURCES) throw new Error(`${String(closed.length)} resources were closed.`);
    const lastFirst = closed.every((value, index) => value === RESOURCES - 1 - index);
    const idle = resources(() => undefined);
    const samples = await samplesOf(WARM_UP, SAMPLES, async () => {
      const started = cpuMs();
      for (let cycle = 0; cycle < CYCLES; cycle += 1) await adapter.startAndStop(idle);
      return ((cpuMs() - started) * 1000) / CYCLES;
    });
    return { us: median(samples), lastFirst };
  },
};

function resources(closed) {
  return Array.from({ length: RESOURCES }, (_, index) => ({
    name: `resource${String(index)}`,
    open(before) {
      if (index > 0 && before?.index !== index - 1) throw new Error("The resource before it is not there.");
      return { index };
    },
    close({ index: position }) {
      closed(position);
    },
  }));
}
