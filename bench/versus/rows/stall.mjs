import { overshoot } from "../../support/grants.mjs";
import { OVERSHOOT } from "../overshoot.mjs";
import { flood, limiterThat } from "../calls.mjs";

const SHAPE = { rate: 1_000, burst: 10, waits: true };
const CALLERS = 600;
const STALL_AFTER_MS = 200;
const STALL_MS = 200;

/** @type {Omit<import("../rows.mjs").Row, "name">} */
export default {
  of: "limiters",
  title: "A stall: the event loop is blocked for 200 ms",
  how: "600 callers wait at 1,000/s, 10 at once, and after 200 ms a loop blocks everything for 200 ms. Worst window as in accuracy. Time lost: how much longer all of it takes than at the exact rate, the 200 ms taken off; a negative one means that what was missed came all at once.",
  note: "tidegate makes up for the tail of a late timer, up to 5 ms, which are 5 tokens at this rate, so that late timers cost a backlog no speed.",
  rounds: 3,
  metrics: [
    OVERSHOOT,
    { key: "lostMs", label: "time lost, ms", better: "less", ratio: false, onlyIf: "over" },
  ],
  async measure(adapter) {
    const times = [];
    const call = await limiterThat(adapter, SHAPE, () => times.push(performance.now()));
    const started = performance.now();
    let hasStalled = false;
    setTimeout(() => {
      hasStalled = times.length < CALLERS;
      const until = performance.now() + STALL_MS;
      while (performance.now() < until);
    }, STALL_AFTER_MS);
    await flood(call, CALLERS, SHAPE.burst);
    if (!hasStalled) throw new RangeError("The stall missed the backlog.");
    const idealMs = ((CALLERS - SHAPE.burst) * 1000) / SHAPE.rate;
    return {
      over: overshoot(times, SHAPE.rate, SHAPE.burst),
      lostMs: times.at(-1) - started - idealMs - STALL_MS,
    };
  },
};
