/**
 * `npm run bench`: measures the built files against floors that make the same promises and do nothing else, prints one
 * table per scenario, then measures tidegate and other libraries in the rows of docs/comparison.md and rewrites that
 * page. Names pick scenarios and rows, and leave the page as it is: `npm run bench -- accuracy stall`. `--seed=N`
 * repeats the order in which the contestants of the comparison took turns.
 *
 * A goal of speed or size that is missed is printed; a broken promise (law 2, order, one timer) exits with 1.
 */
import { parseArgs } from "node:util";
import { machine } from "./support/machine.mjs";
import { printTable } from "./support/table.mjs";
import { compare } from "./versus/run.mjs";
import { ROW_NAMES } from "./versus/rows.mjs";

const SCENARIOS = [
  "uncontended",
  "backlog",
  "memory",
  "aborts",
  "accuracy",
  "stall",
  "ambient",
  "fetch",
  "pipeline",
  "observers",
];

const { values, positionals: names } = parseArgs({
  options: { seed: { type: "string" } },
  allowPositionals: true,
});
const known = [...new Set([...SCENARIOS, ...ROW_NAMES])];
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`No scenario or row is called ${unknown.join(", ")}. There are: ${known.join(", ")}.`);
  process.exit(2);
}
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
if (!Number.isInteger(seed)) {
  console.error(`--seed must be a whole number; got "${values.seed}".`);
  process.exit(2);
}

console.log(`${machine()}, seed ${String(seed)}`);
const started = performance.now();
const faults = [];
for (const name of SCENARIOS.filter((scenario) => names.length === 0 || names.includes(scenario))) {
  const { measure } = await import(`./scenarios/${name}.mjs`);
  const report = await measure();
  printTable(`${name}: ${report.title}`, report.rows);
  faults.push(...report.faults.map((fault) => `${name}: ${fault}`));
}
if (names.length === 0 || names.some((name) => ROW_NAMES.includes(name))) await compare(names, seed);
console.log(`\n${((performance.now() - started) / 1000).toFixed(0)} s`);

for (const fault of faults) console.error(`BROKEN ${fault}`);
process.exitCode = faults.length > 0 ? 1 : 0;
