import { cpuMs } from "../../support/cpu-time.mjs";
import { plainLimiter } from "../calls.mjs";

const CALLERS = 10_000;
const IDLE = { rate: 1 / 60, burst: 1, waits: true };
/** One token each 100 ms. */
const SLOW = { rate: 10, burst: 1, waits: true };
const AHEAD = 4;

/** @type {Omit<import("../rows.mjs").Row, "name">} */
export default {
  of: "limiters",
  title: "Cancellation: every other one of 10,000 waiting callers leaves",
  how: "Each has a signal of its own; CPU time for each caller, from the first call until the last of the 5,000 has been rejected. Then, at 10/s: when the fifth in line is granted after the four before it have left. 100 ms is right, 500 ms means that the tokens of those who left stay spent.",
  rounds: 3,
  metrics: [
    { key: "cpuUs", label: "CPU per caller, µs", better: "less", digits: 2 },
    { key: "nextMs", label: "fifth in line after, ms", better: "less", ratio: false, enough: 110 },
  ],
  async measure(adapter) {
    return { cpuUs: await cpuPerCaller(adapter), nextMs: await fifthInLine(adapter) };
  },
};

async function cpuPerCaller(adapter) {
  const call = await plainLimiter(adapter, IDLE);
  await call();
  globalThis.gc();
  const started = cpuMs();
  const { leaving, controllers } = await queue(call, CALLERS, (caller) => caller % 2 === 0);
  for (const controller of controllers) controller.abort();
  await Promise.all(leaving);
  return ((cpuMs() - started) * 1000) / CALLERS;
}

async function fifthInLine(adapter) {
  const call = await plainLimiter(adapter, SLOW);
  await call();
  const started = performance.now();
  const { leaving, controllers } = await queue(call, AHEAD, () => true);
  const fifth = call(new AbortController().signal);
  for (const controller of controllers) controller.abort();
  await Promise.all(leaving);
  await fifth;
  return performance.now() - started;
}

/** Lets callers wait. `leaving` settle when those who `leaves` names have been rejected. */
async function queue(call, callers, leaves) {
  const leaving = [];
  const controllers = [];
  for (let caller = 0; caller < callers; caller += 1) {
    const controller = new AbortController();
    const wait = call(controller.signal);
    if (!leaves(caller)) continue;
    controllers.push(controller);
    leaving.push(wait.then(refuse, () => undefined));
  }
  await new Promise((resolve) => setImmediate(resolve)); // some begin to wait in a later turn
  return { leaving, controllers };
}

function refuse() {
  throw new Error("A caller that left was granted.");
}
