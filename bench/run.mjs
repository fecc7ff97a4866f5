/**
 * `npm run bench`: measures the built files against floors that make the same promises and do nothing else, and prints
 * one table per scenario. Names pick scenarios: `npm run bench -- accuracy stall`.
 *
 * A goal of speed or size that is missed is printed; a broken promise (law 2, order, one timer) exits with 1.
 */
import { machine } from "./support/machine.mjs";
import { printTable } from "./support/table.mjs";

const SCENARIOS = ["uncontended", "backlog", "memory", "aborts", "accuracy", "stall", "ambient"];

const names = process.argv.slice(2);
const unknown = names.filter((name) => !SCENARIOS.includes(name));
if (unknown.length > 0) {
  console.error(`No scenario is called ${unknown.join(", ")}. There are: ${SCENARIOS.join(", ")}.`);
  process.exit(2);
}

console.log(machine());
const started = performance.now();
const faults = [];
for (const name of names.length > 0 ? names : SCENARIOS) {
  const { measure } = await import(`./scenarios/${name}.mjs`);
  const report = await measure();
  printTable(`${name}: ${report.title}`, report.rows);
  faults.push(...report.faults.map((fault) => `${name}: ${fault}`));
}
console.log(`\n${((performance.now() - started) / 1000).toFixed(0)} s`);

for (const fault of faults) console.error(`BROKEN ${fault}`);
process.exitCode = faults.length > 0 ? 1 : 0;
