/** The cost of `await acquire()` while tokens are there, on the real clock. */
import { RateLimiter } from "tidegate/rate-limit";
import { cpuMs } from "../support/cpu-time.mjs";
import { alternate } from "../support/fresh-process.mjs";
import { formatRatio, median, ratioOf, samplesOf } from "../support/statistics.mjs";
import { goalVerdict } from "../support/table.mjs";

const ROUNDS = 5;
const GOAL = 2.2;
const CALLS = 100_000; // a sample: one call is shorter than the clock can tell
const WARM_UP = 3;
const SAMPLES = 15;

export const contestants = {
  floor: () => nsPerCall(() => Promise.resolve()),
  bareBucket() {
    const bucket = new BareBucket(1, 1e9);
    return nsPerCall(() => bucket.acquire());
  },
  /** The level falls and is never cut off: callers that come faster than the rate, with a large burst. */
  inUse() {
    const limiter = new RateLimiter({ maxRowsPerSecond: 1, burstWindowSecs: 1e9 });
    return nsPerCall(() => limiter.acquire());
  },
  /** The bucket is full again at each call: callers that come seldom. */
  full() {
    const limiter = new RateLimiter({ maxRowsPerSecond: 1e9 });
    return nsPerCall(() => limiter.acquire());
  },
};

export async function measure() {
  const results = await alternate("uncontended", ["floor", "bareBucket", "inUse", "full"], ROUNDS);
  const row = (what, contestant, goal) => {
    const ratio = ratioOf(results[contestant], results.floor);
    return {
      what,
      figure: `${median(results[contestant]).toFixed(1)} ns`,
      ratio: contestant === "floor" ? "" : formatRatio(ratio),
      ...(goal && { goal: `at most ${String(GOAL)}x`, verdict: goalVerdict(ratio.median <= GOAL) }),
    };
  };
  return {
    title: "CPU time of one `await acquire()`, tokens are there",
    rows: [
      row("floor: await Promise.resolve()", "floor", false),
      row("a bare bucket with one clock reading", "bareBucket", false),
      row("acquire(), bucket in use", "inUse", true),
      row("acquire(), bucket full at each call", "full", true),
    ],
    faults: [],
  };
}

/** Nanoseconds for one await of what `call` returns: the median of many samples. */
async function nsPerCall(call) {
  const samples = await samplesOf(WARM_UP, SAMPLES, async () => {
    const started = cpuMs();
    for (let count = 0; count < CALLS; count += 1) await call();
    return ((cpuMs() - started) * 1e6) / CALLS;
  });
  return median(samples);
}

/** The least that a token bucket can be: no line, no options, no checks. */
class BareBucket {
  #level;
  #since = performance.now();

  constructor(rate, capacity) {
    this.rate = rate;
    this.capacity = capacity;
    this.granted = Promise.resolve();
    this.#level = capacity;
  }

  acquire() {
    const now = performance.now();
    this.#level = Math.min(this.capacity, this.#level + ((now - this.#since) * this.rate) / 1000);
    this.#since = now;
    if (this.#level < 1) throw new Error("The bare bucket has no line to wait in.");
    this.#level -= 1;
    return this.granted;
  }
}
