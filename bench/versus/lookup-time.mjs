import { cpuMs } from "../support/cpu-time.mjs";
import { median, samplesOf } from "../support/statistics.mjs";

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
  const samples = await samplesOf(WARM_UP, SAMPLES, async () => {
    const started = cpuMs();
    const sum = await lookUp(LOOKUPS, afterAwait);
    const elapsed = cpuMs() - started;
    if (sum !== LOOKUPS) throw new Error("The lookups have found something else.");
    return (elapsed * 1e6) / LOOKUPS;
  });
  return median(samples);
}
