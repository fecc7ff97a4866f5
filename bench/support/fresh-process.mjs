import { fileURLToPath } from "node:url";
import { outputOf, STEADY } from "./node-process.mjs";

const CONTESTANT = fileURLToPath(new URL("contestant.mjs", import.meta.url));

/** Longer than any contestant takes, on a busy machine too: a caller that is never granted ends the run. */
const TIME_LIMIT_MS = 180_000;

/**
 * Runs one contestant of a scenario in a process of its own, so that neither the JIT nor the heap knows the others.
 *
 * @param {string} scenario Name of a file in bench/scenarios.
 * @param {string} contestant Name of one of its contestants.
 * @param {unknown} input Handed to the contestant.
 * @returns What the contestant returns, through JSON.
 */
export async function inFreshProcess(scenario, contestant, input = null) {
  const args = [scenario, contestant, JSON.stringify(input)];
  return JSON.parse(await outputOf(CONTESTANT, args, { flags: STEADY, timeLimitMs: TIME_LIMIT_MS }));
}

/**
 * Lets contestants take turns, each time in a fresh process: A B, B A, A B and so on, so that neither always comes
 * second.
 *
 * @returns For each contestant its results, by round.
 */
export async function alternate(scenario, contestants, rounds, input = null) {
  const results = Object.fromEntries(contestants.map((contestant) => [contestant, []]));
  for (let round = 0; round < rounds; round += 1) {
    const turn = round % 2 === 0 ? contestants : [...contestants].reverse();
    for (const contestant of turn) {
      results[contestant].push(await inFreshProcess(scenario, contestant, input));
    }
  }
  return results;
}
