import { plainLimiter } from "../calls.mjs";

const SHAPE = { rate: 1 / 60, burst: 1, waits: true };
const CALLERS = 10_000;

/** @type {Omit<import("../rows.mjs").Row, "name">} */
export default {
  of: "limiters",
  title: "The heap that one waiting caller holds",
  how: "10,000 callers wait at one permit a minute, their promises in one array; heap after garbage collection, less that before.",
  rounds: 3,
  metrics: [{ key: "bytes", label: "bytes per caller", better: "less" }],
  async measure(adapter) {
    const call = await plainLimiter(adapter, SHAPE);
    await call(); // what the first call sets up is not what a waiting caller costs
    const before = await heapUsed();
    const calls = [];
    for (let count = 0; count < CALLERS; count += 1) calls.push(call());
    const bytes = ((await heapUsed()) - before) / CALLERS;
    if (calls.length !== CALLERS) throw new Error("Something was collected too early.");
    return { bytes };
  },
};

async function heapUsed() {
  await new Promise((resolve) => setTimeout(resolve, 20)); // some begin to wait in a later turn
  globalThis.gc();
  globalThis.gc(); // the second one takes what finalizers and weak references held
  return process.memoryUsage().heapUsed;
}
