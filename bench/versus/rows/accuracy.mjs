import { overshoot } from "../../support/grants.mjs";
import { OVERSHOOT } from "../overshoot.mjs";
import { flood, limiterThat } from "../calls.mjs";

const SHAPE = { rate: 100, burst: 10, waits: true };
/** Most of a window of 100 ms passes after the first call: that is when limits per window let through twice as many. */
const IDLE_MS = 80;
const CALLERS = 210;

/** @type {Omit<import("../rows.mjs").Row, "name">} */
export default {
  of: "limiters",
  title: "Accuracy: 100/s, 10 at once",
  how: "One call, 80 ms of rest, then 210 calls at once. Worst window: the most tokens granted in any window of any length above 10 + 100/s times its length, as callers see it; up to one is the grain of timers. Share of the rate: the time that an exact bucket takes for the 210 over the time they took; more than 100% is too fast.",
  rounds: 3,
  metrics: [
    OVERSHOOT,
    { key: "share", label: "share of the rate, %", better: "more", digits: 1, enough: 99.9, onlyIf: "over" },
    { key: "inOrder", label: "in order", better: "yes" },
  ],
  async measure(adapter) {
    const times = [];
    // push() returns how many were granted by then: the first caller is one, and those of the flood follow.
    const call = await limiterThat(adapter, SHAPE, () => times.push(performance.now()));
    await call();
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const started = performance.now();
    const places = await flood(call, CALLERS, SHAPE.burst);
    const idealMs = ((CALLERS - SHAPE.burst) * 1000) / SHAPE.rate;
    return {
      over: overshoot(times, SHAPE.rate, SHAPE.burst),
      share: (idealMs / (times.at(-1) - started)) * 100,
      inOrder: places.every((place, caller) => place === caller + 2),
    };
  },
};
