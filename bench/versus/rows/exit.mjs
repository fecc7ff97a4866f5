import { writeSync } from "node:fs";
import { plainLimiter } from "../calls.mjs";

/** The sixth call has to wait. */
const SHAPE = { rate: 5, burst: 5, waits: true };
const CALLERS = 6;

/** @type {Omit<import("../rows.mjs").Row, "name">} */
export default {
  of: "limiters",
  title: "Exit: a limiter at which nobody waits",
  how: "Five permits at once at 5/s, and a sixth that is waited for. The time from then until the process ends by itself; up to 5 ms is none.",
  rounds: 3,
  metrics: [{ key: "ms", label: "process held for, ms", better: "less", digits: 1, ratio: false, enough: 5 }],
  async measure(adapter) {
    const call = await plainLimiter(adapter, SHAPE);
    await Promise.all(Array.from({ length: CALLERS }, () => call()));
    const granted = performance.now();
    process.once("exit", () => {
      writeSync(1, JSON.stringify({ ms: performance.now() - granted }));
    });
  },
};
