import { Heap } from "./heap.js";
import { readOptions, type SoakOptions } from "./options.js";
import { playRound } from "./round.js";
import { describe, Stage } from "./stage.js";

/** Milliseconds between two lines. */
const LINE_EVERY_MS = 10_000;

const stage = new Stage();
const heap = new Heap();
const begin = performance.now();

function seconds(): number {
  return (performance.now() - begin) / 1_000;
}

function line(): string {
  const { first, last } = heap.quarters();
  const counts = Object.entries(stage.counts).map(([what, count]) => `${what} ${String(count)}`);
  return `${counts.join(", ")}, heap ${first.toFixed(1)} -> ${last.toFixed(1)} MB, ${seconds().toFixed(0)} s`;
}

/** Plays rounds until the time is over or something is wrong; gives the seed of the last one. */
async function soak(options: SoakOptions): Promise<number> {
  let { seed } = options;
  let lines = 0;
  for (;;) {
    await playRound(stage, seed);
    await heap.sample();
    if (stage.faults.length > 0 || seconds() >= options.seconds) return seed;
    if (seconds() * 1_000 >= (lines + 1) * LINE_EVERY_MS) {
      lines += 1;
      console.log(line());
    }
    seed = (seed + 1) % 2 ** 32;
  }
}

async function main(options: SoakOptions): Promise<void> {
  for (const event of ["unhandledRejection", "uncaughtException", "warning"] as const) {
    process.on(event, (error: unknown) => {
      stage.fault(`${event}: ${describe(error)}`);
    });
  }
  stage.grants.watch();
  console.log(`--seed ${String(options.seed)}; it says what is played, the time on the clock how it meets.`);
  const last = await soak(options);
  stage.grants.unwatch();
  const timers = process.getActiveResourcesInfo().filter((resource) => resource === "Timeout");
  stage.check(timers.length === 0, () => `${String(timers.length)} timers of the process are left`);
  const grown = heap.fault();
  if (grown !== undefined) stage.fault(grown);
  console.log(line());
  if (stage.faults.length === 0) return;
  for (const fault of stage.faults) console.error(fault);
  console.error(`Found with: npm run soak -- --seed ${String(last)}`);
  process.exit(1); // what hangs may hold the process
}

let options: SoakOptions | undefined;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}
if (options !== undefined) await main(options);
