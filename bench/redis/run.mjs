/**
 * `npm run bench:redis`: a rate that processes share over a Redis server, beside other libraries on the same machine in
 * the same run, each time with a server of its own. `npm run bench:redis -- shared` picks parts: shared, large, alone, limit.
 * `--seed=N` repeats the order of turns.
 *
 * A goal that is missed is printed, and changes nothing else.
 */
import { parseArgs } from "node:util";
import { machine } from "../support/machine.mjs";
import { ensurePeers } from "../support/peers.mjs";
import { hasRedis } from "../support/redis-server.mjs";
import { median } from "../support/statistics.mjs";
import { goalVerdict, printColumns, printTable } from "../support/table.mjs";
import { randomNumbers, shuffled } from "../versus/shuffle.mjs";

const ROUNDS = 3;
const SHARED = { processes: 4, waiters: 32, rate: 500, burst: 50, forMs: 4_000 };
const LARGE = { processes: 16, waiters: 32, rate: 5_000, burst: 500, forMs: 4_000 };
const LATE_TIMER_MS = 5;

const PARTS = { shared: measureSharing, large: measureLarge, alone: measureCalls, limit: measureLimit };

const { values, positionals: names } = parseArgs({
  options: { seed: { type: "string" } },
  allowPositionals: true,
});
const unknown = names.filter((name) => !(name in PARTS));
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
if (unknown.length > 0 || !Number.isInteger(seed)) {
  console.error(`Parts are ${Object.keys(PARTS).join(", ")}; --seed is a whole number.`);
  process.exit(2);
}
if (!hasRedis()) {
  console.error("No redis-server on the PATH: apt-get install redis-server, brew install redis.");
  process.exit(2);
}
ensurePeers();
// Loaded when the peers are installed.
const { contestants } = await import("./contestants.mjs");
const { measureShared } = await import("./shared.mjs");
const { measureAlone } = await import("./alone.mjs");
const { measureServer } = await import("./server-limit.mjs");

const random = randomNumbers(seed);
const all = await contestants();
const [ours, ...peers] = all;
const started = performance.now();
console.log(`${machine()}, seed ${String(seed)}`);
for (const { label, uses } of all) console.log(`  ${label}: ${uses}`);
for (const [name, part] of Object.entries(PARTS)) {
  if (names.length === 0 || names.includes(name)) await part();
}
console.log(`\n${((performance.now() - started) / 1000).toFixed(0)} s`);

async function measureSharing() {
  const [results, { over, jitterMs, ...mine }] = await compareShared(SHARED, ROUNDS);
  const theirs = Math.min(...peers.map(({ label }) => results.get(label).calls));
  const allowed = (SHARED.rate * (LATE_TIMER_MS + jitterMs)) / 1000;
  printTable("goals", [
    goal("tokens too many, worst window", over, allowed, 1, "most"),
    goal("share of what rate and burst give", mine.used, 0.995, 4, "least"),
    goal("share of the process that got least, 1 is even", mine.leastShare, 0.85, 2, "least"),
    goal("share of the process that got most", mine.mostShare, 1.15, 2, "most"),
    goal(`scripts for each token (best peer ${theirs.toFixed(2)})`, mine.calls, 0.08, 3, "most"),
  ]);
}

async function measureLarge() {
  await compareShared(LARGE, 1);
}

/** Medians of all rounds, and ours; a table. */
async function compareShared(load, rounds) {
  const results = await inRounds(rounds, ({ file }) => measureShared(file, load));
  const { processes, waiters, rate, burst, forMs } = load;
  printColumns(
    `${String(processes)} processes, ${String(waiters)} waiters each, share ${String(rate)}/s, burst ${String(burst)}, ` +
      `for ${String(forMs / 1000)} s; medians of ${String(rounds)}`,
    {
      name: "",
      over: "too many",
      used: "used",
      shares: "shares",
      calls: "scripts/token",
      cpuMicros: "CPU µs/token",
      p50: "wait p50 ms",
      p99: "p99 ms",
      jitterMs: "jitter ms",
    },
    [...results].map(([name, result]) => ({
      name,
      over: result.over.toFixed(1),
      used: `${(result.used * 100).toFixed(2)}%`,
      shares: `${result.leastShare.toFixed(2)} to ${result.mostShare.toFixed(2)}`,
      calls: result.calls.toFixed(3),
      cpuMicros: result.cpuMicros.toFixed(0),
      p50: result.p50.toFixed(0),
      p99: result.p99.toFixed(0),
      jitterMs: result.jitterMs.toFixed(1),
    })),
  );
  return [results, results.get(ours.label)];
}

async function measureCalls() {
  const results = await inRounds(ROUNDS, ({ file }) => measureAlone(file));
  printColumns(
    `one process, tokens always there; medians of ${String(ROUNDS)}`,
    { name: "", ms: "one call ms", ratio: "beside a bare EVALSHA", perSecond: "64 at once, tokens/s" },
    [...results].map(([name, { ms, ratio, perSecond }]) => ({
      name,
      ms: ms.toFixed(3),
      ratio: `${ratio.toFixed(2)}x`,
      perSecond: perSecond.toFixed(0),
    })),
  );
  const mine = results.get(ours.label);
  const effect = results.get(peers.find(({ file }) => file === "effect").label);
  printTable("goals", [
    goal("one call, beside a bare EVALSHA", mine.ratio, 1.5, 2, "most"),
    goal("64 at once, beside effect", mine.perSecond / effect.perSecond, 8, 1, "least"),
  ]);
}

async function measureLimit() {
  const rows = await measureServer();
  printColumns(
    "one server: its processor time for a request",
    { what: "", micros: "µs of one core", perSecond: "requests/s of one core", processes: "busy processes" },
    rows.map(({ what, micros, callsPerProcess }) => ({
      what,
      micros: micros.toFixed(0),
      perSecond: (1e6 / micros).toFixed(0),
      processes: (1e6 / micros / callsPerProcess).toFixed(0),
    })),
  );
}

/** Lets them take turns, in a new order each time. @returns Medians of all values, by label, ours first. */
async function inRounds(rounds, measure) {
  const rowsOf = new Map(all.map(({ label }) => [label, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of shuffled(all, random))
      rowsOf.get(contestant.label).push(await measure(contestant));
  }
  return new Map([...rowsOf].map(([label, rows]) => [label, medians(rows)]));
}

function medians(rows) {
  return Object.fromEntries(Object.keys(rows[0]).map((key) => [key, median(rows.map((row) => row[key]))]));
}

function goal(what, value, bound, digits, kind) {
  return {
    what,
    figure: value.toFixed(digits),
    goal: `at ${kind} ${bound.toFixed(digits)}`,
    verdict: goalVerdict(kind === "most" ? value <= bound : value >= bound),
  };
}
