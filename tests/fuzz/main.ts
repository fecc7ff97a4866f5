import { parseArgs } from "node:util";
import { targets } from "./targets.js";

/** Runs of each kind of limiter with one seed. */
const RUNS = 40;

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "60" }, seed: { type: "string" } },
});
const seconds = requireNumber("seconds", values.seconds);
const only = values.seed === undefined ? undefined : requireNumber("seed", values.seed);

let runs = 0;
let operations = 0;

function requireNumber(option: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  throw new TypeError(`--${option} must be a number; got "${text}".`);
}

/** Drives every kind of limiter with one seed, until `end`; whether all did what their models do. */
async function round(seed: number, end: number): Promise<boolean> {
  for (const { name, check } of targets) {
    if (performance.now() >= end) return true;
    const report = await check((count) => (operations += count), {
      seed,
      numRuns: RUNS,
    });
    runs += report.numRuns;
    if (!report.failed) continue;
    console.error(`${name} differs from its model.\n\n${report.message ?? ""}\n`);
    console.error(report.difference);
    console.error(`\nRepeat it with: npm run fuzz -- --seed ${String(seed)}`);
    return false;
  }
  return true;
}

async function main(): Promise<boolean> {
  if (only !== undefined) return round(only, Infinity);
  const end = performance.now() + seconds * 1000;
  let same = true;
  while (same && performance.now() < end) same = await round(Math.floor(Math.random() * 2 ** 31), end);
  return same;
}

const begin = performance.now();
const same = await main();
const took = Math.round((performance.now() - begin) / 1000);
console.log(`${String(runs)} runs, ${String(operations)} operations, ${String(took)} s.`);
if (!same) process.exitCode = 1;
