/**
 * `npm run compare`: makes the faults happen that other libraries have or had, in their newest versions and in
 * tidegate, and prints what was seen. A word picks faults by name or file: `npm run compare -- redis`.
 *
 * Exits with 1 when tidegate shows a fault, or when a probe breaks down. What the others show changes nothing.
 */
import { availableParallelism } from "node:os";
import { machine } from "../support/machine.mjs";
import { ensurePeers } from "../support/peers.mjs";
import { hasRedis, withRedis } from "../support/redis-server.mjs";
import { faultsWith } from "./support/faults.mjs";
import { failuresOf, printReport } from "./support/report.mjs";
import { brokenDown, notRun, runProbe } from "./support/run-probe.mjs";

/** Most probes wait nearly all the time, but a busy processor would delay what they measure. */
const LANES = Math.min(4, availableParallelism());

const started = performance.now();
const word = process.argv.slice(2).join(" ");
const faults = await faultsWith(word);
if (faults.length === 0) {
  console.error(`No fault and no file of bench/compare/faults has "${word}" in its name.`);
  process.exit(2);
}

ensurePeers();
console.log(`${machine()}\n`);
const redisIsHere = hasRedis();

// Each fault's contestants in the order of the table, whenever their results come.
const tasks = faults.flatMap((fault) => fault.contestants.map((_, position) => ({ fault, position })));
await inLanes(
  tasks.filter(({ fault }) => !fault.alone),
  LANES,
);
await inLanes(
  tasks.filter(({ fault }) => fault.alone),
  1,
);
const results = tasks.map(({ result }) => result);

printReport(results);
console.log(`${((performance.now() - started) / 1000).toFixed(0)} s`);
const failures = failuresOf(results);
for (const { verdict, contestant, fault, figure } of failures) {
  console.error(`${verdict.toUpperCase()} ${contestant}: ${fault}: ${figure}`);
}
process.exitCode = failures.length > 0 ? 1 : 0;

async function inLanes(waiting, lanes) {
  const queue = [...waiting];
  const lane = async () => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
      task.result = await resultOf(task.fault, task.position);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

async function resultOf(fault, position) {
  const { notRun: reason } = fault.contestants[position];
  if (reason !== undefined) return notRun(fault, position, reason);
  if (fault.redis === undefined) return await runProbe(fault, position, {});
  if (!redisIsHere) return notRun(fault, position, "no redis-server on the PATH");
  try {
    return await withRedis(fault.redis, (redisPort) => runProbe(fault, position, { redisPort }));
  } catch (error) {
    return brokenDown(fault, position, error.message);
  }
}
