// The child process: lets one fault happen, or not, in one contestant, and hands what was found to the parent on
// file descriptor 3, so that what a library prints cannot get in between.
import { writeSync } from "node:fs";
import { moduleOf } from "./contestants.mjs";
import { findFault } from "./faults.mjs";

const RESULT_FD = 3;
/** A process that is still there after this is held for good. */
const HELD_FOR_GOOD_MS = 10_000;
const [name, position, context] = process.argv.slice(2);

const fault = await findFault(name);
const contestant = fault.contestants[Number(position)];
// Before the library is loaded, which may keep what it finds then.
fault.prepare?.();
const module = await import(moduleOf(contestant));
const observed = await fault.probe(module[contestant.make], JSON.parse(context));

if (fault.untilExit) {
  const doneAt = performance.now();
  process.once("exit", () => {
    hand({ ...observed, heldMs: performance.now() - doneAt });
  });
  setTimeout(() => process.exit(), HELD_FOR_GOOD_MS).unref();
} else {
  hand(observed);
  process.exit();
}

function hand(facts) {
  writeSync(RESULT_FD, JSON.stringify({ seen: fault.seen(facts), figure: fault.figure(facts) }));
}
