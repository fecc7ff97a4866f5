/**
 * What the pipeline adds: to a call of a function (its count, and the promise that says when it has settled, among it),
 * to a lookup, and to each item of a fan-out, beside p-map.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { App, ContextKey, Environment, fn, map, mountEach, useContext } from "tidegate";
import { cpuMs } from "../support/cpu-time.mjs";
import { alternate } from "../support/fresh-process.mjs";
import { ensurePeers, peerVersion } from "../support/peers.mjs";
import { formatRatio, median, ratioOf, samplesOf } from "../support/statistics.mjs";
import { goalVerdict } from "../support/table.mjs";

const ROUNDS = 5;
const CALLS = 200_000;
const LOOKUPS = 2_000_000;
const ITEMS = 100_000;
const CONCURRENCY = 100;
const MILLION = 1_000_000;
const HEAP_GOAL_MB = 150;

const KEY = new ContextKey("number");
const double = async (n) => n * 2;

export const contestants = {
  "plain call": () => inRun(() => timeOfCalls(double)),
  "fn call": () => inRun(() => timeOfCalls(fn(double))),
  getStore: () => {
    const storage = new AsyncLocalStorage();
    return storage.run(1, () => timeOfLookups(() => storage.getStore()));
  },
  useContext: () => inRun(() => timeOfLookups(() => useContext(KEY))),
  async "p-map"() {
    const { pMap } = await import("../peers/fan-outs/p-map.mjs");
    return inRun(() => costOfItems((f, items) => pMap(items, f, { concurrency: CONCURRENCY })));
  },
  map: () => inRun(() => costOfItems((f, items) => map(f, items, { concurrency: CONCURRENCY }))),
  mountEach: () =>
    inRun(() =>
      costOfItems(async (f, items) => {
        const handle = await mountEach(f, items.entries(), { concurrency: CONCURRENCY });
        await handle.ready();
      }),
    ),
  "a million": () => inRun(heapOfAMillion),
};

export async function measure() {
  ensurePeers();
  const calls = await alternate("pipeline", ["plain call", "fn call"], ROUNDS);
  const lookups = await alternate("pipeline", ["getStore", "useContext"], ROUNDS);
  const items = await alternate("pipeline", ["p-map", "map", "mountEach"], ROUNDS);
  const { "a million": heaps } = await alternate("pipeline", ["a million"], 1);
  const microseconds = (results) => results.map(({ us }) => us);
  const bytes = (results) => results.map((result) => result.bytes);
  const [peer, ours, mounted] = ["p-map", "map", "mountEach"].map((name) => microseconds(items[name]));
  const [peerBytes, ourBytes] = ["p-map", "map"].map((name) => bytes(items[name]));
  const peerName = peerVersion("p-map");
  return {
    title: `CPU time; fan-outs over ${ITEMS.toLocaleString("en")} async items, ${String(CONCURRENCY)} at a time`,
    rows: [
      { what: "plain async call", figure: nanoseconds(calls["plain call"]) },
      against("the same through fn, inside a run", nanoseconds, calls["fn call"], calls["plain call"], 2),
      { what: "getStore()", figure: nanoseconds(lookups.getStore) },
      against("useContext()", nanoseconds, lookups.useContext, lookups.getStore, 2),
      { what: peerName, figure: perItem(peer) },
      against("map", perItem, ours, peer, 1.5),
      against("mountEach, beside map", perItem, mounted, ours, 3),
      { what: `heap kept, ${peerName}`, figure: `${median(peerBytes).toFixed(0)} bytes an item` },
      against(
        "heap kept, map",
        (values) => `${median(values).toFixed(0)} bytes an item`,
        ourBytes,
        peerBytes,
        1,
      ),
      {
        what: `most heap, map over ${MILLION.toLocaleString("en")} items of an async generator, results dropped`,
        figure: `${median(heaps).toFixed(1)} MB`,
        goal: `under ${String(HEAP_GOAL_MB)} MB`,
        verdict: goalVerdict(median(heaps) < HEAP_GOAL_MB),
      },
    ],
    faults: [],
  };
}

function against(what, format, ours, floor, goal) {
  const ratio = ratioOf(ours, floor);
  return {
    what,
    figure: format(ours),
    ratio: formatRatio(ratio),
    goal: `at most ${String(goal)}x`,
    verdict: goalVerdict(ratio.median <= goal),
  };
}

const nanoseconds = (values) => `${median(values).toFixed(1)} ns`;
const perItem = (values) => `${median(values).toFixed(2)} µs an item`;

/** What `body` gives in a run of an App. */
async function inRun(body) {
  const environment = new Environment({
    lifespan: function* (builder) {
      builder.provide(KEY, 1);
      yield;
    },
  });
  const result = await new App({ name: "bench", environment }, body).run();
  await environment.stop();
  return result;
}

/** Nanoseconds of CPU time for one call after another. */
async function timeOfCalls(f) {
  const samples = await samplesOf(3, 7, async () => {
    const started = cpuMs();
    for (let n = 0; n < CALLS; n += 1) await f(n);
    return ((cpuMs() - started) * 1e6) / CALLS;
  });
  return median(samples);
}

/** Nanoseconds of CPU time for one lookup. */
async function timeOfLookups(look) {
  const samples = await samplesOf(3, 7, () => {
    const started = cpuMs();
    let sum = 0;
    for (let n = 0; n < LOOKUPS; n += 1) sum += look();
    if (sum !== LOOKUPS) throw new Error("A lookup gave something else.");
    return ((cpuMs() - started) * 1e6) / LOOKUPS;
  });
  return median(samples);
}

/** For one item of a fan-out: microseconds of CPU time, and what it keeps on the heap while the last one is at work. */
async function costOfItems(fanOut) {
  const items = Array.from({ length: ITEMS }, (_, n) => n);
  const samples = await samplesOf(2, 5, async () => {
    const started = cpuMs();
    await fanOut(double, items);
    return ((cpuMs() - started) * 1000) / ITEMS;
  });
  const before = heapUsed();
  let during = NaN;
  await fanOut(async (n) => {
    if (n === ITEMS - 1) during = heapUsed();
    return n * 2;
  }, items);
  return { us: median(samples), bytes: (during - before) / ITEMS };
}

/** The most heap in use, in megabytes, over a fan-out that keeps nothing. */
async function heapOfAMillion() {
  let most = 0;
  async function* source() {
    for (let n = 0; n < MILLION; n += 1) {
      if (n % 50_000 === 0) most = Math.max(most, process.memoryUsage().heapUsed);
      yield n;
    }
  }
  await map(async () => undefined, source());
  return most / 2 ** 20;
}

function heapUsed() {
  globalThis.gc();
  globalThis.gc(); // the second one takes what finalizers and weak references held
  return process.memoryUsage().heapUsed;
}
