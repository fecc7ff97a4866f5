import { cpuMs } from "../support/cpu-time.mjs";
import { median } from "../support/statistics.mjs";

const LOOKUPS = 200_000;
const WARM_UP = 2;
const SAMPLES = 7;

/**
 * CPU time of one lookup, in nanoseconds.
 *
 * @param {import("./adapters.mjs").Opened} opened
 * @param {boolean} afterAwait
 */
export async function nsPerLookup({ lookUp }, afterAwait) {
  const samples = [];
  for (let sample = -WARM_UP; sample < SAMPLES; sample += 1) {
    const started = cpuMs();
    const sum = await lookUp(LOOKUPS, afterAwait);
    if (sample >= 0) samples.push(((cpuMs() - started) * 1e6) / LOOKUPS);
    if (sum !== LOOKUPS) throw new Error("The lookups have found something else.");
  }
  return median(samples);
}
