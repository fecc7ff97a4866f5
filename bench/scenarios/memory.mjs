/** The heap that one waiting caller holds. */
import { RateLimiter } from "tidegate/rate-limit";
import { alternate } from "../support/fresh-process.mjs";
import { formatRatio, median, ratioOf } from "../support/statistics.mjs";
import { goalVerdict } from "../support/table.mjs";

const ROUNDS = 3;
const GOAL = 330;
const WAITERS = 100_000;

export const contestants = {
  /** The promise and its resolve function, each in an array: nothing that can be granted later needs less. */
  floor: () => {
    const resolves = [];
    return bytesPerPromise(() => new Promise((resolve) => resolves.push(resolve)), resolves);
  },
  /** A caller in line may be rejected too, so the reject function is kept as well. */
  rejectable: () => {
    const settlers = [];
    const make = () => new Promise((resolve, reject) => settlers.push(resolve, reject));
    return bytesPerPromise(make, settlers);
  },
  ours: () => {
    const limiter = new RateLimiter({ maxRowsPerSecond: 0.001, initialTokens: 0 });
    const result = bytesPerPromise(() => limiter.acquire(), limiter);
    limiter.close();
    return result;
  },
};

export async function measure() {
  const { floor, rejectable, ours } = await alternate("memory", ["floor", "rejectable", "ours"], ROUNDS);
  return {
    title: `heap per waiting caller, ${WAITERS.toLocaleString("en")} waiting, their promises in one array`,
    rows: [
      { what: "floor: promise and resolve function", figure: `${median(floor).toFixed(0)} bytes` },
      {
        what: "with its reject function too",
        figure: `${median(rejectable).toFixed(0)} bytes`,
        ratio: formatRatio(ratioOf(rejectable, floor)),
      },
      {
        what: "acquire()",
        figure: `${median(ours).toFixed(0)} bytes`,
        ratio: formatRatio(ratioOf(ours, floor)),
        goal: `at most ${String(GOAL)} bytes`,
        verdict: goalVerdict(median(ours) <= GOAL),
      },
    ],
    faults: [],
  };
}

/** @param keeper What else must stay alive until the heap has been measured. */
function bytesPerPromise(make, keeper) {
  const before = heapUsed();
  const promises = [];
  for (let count = 0; count < WAITERS; count += 1) promises.push(make());
  const bytes = (heapUsed() - before) / WAITERS;
  if (promises.length !== WAITERS || keeper === undefined)
    throw new Error("Something was collected too early.");
  return bytes;
}

function heapUsed() {
  globalThis.gc();
  globalThis.gc(); // the second one takes what finalizers and weak references held
  return process.memoryUsage().heapUsed;
}
