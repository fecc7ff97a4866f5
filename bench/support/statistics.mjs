/**
 * Samples of a measurement, after some that only warm up.
 *
 * @param {number} warmUp How many of those come first.
 * @param {number} count
 * @param {(isWarmUp: boolean) => T | Promise<T>} run Takes one sample.
 * @template T
 * @returns {Promise<T[]>}
 */
export async function samplesOf(warmUp, count, run) {
  for (let sample = 0; sample < warmUp; sample += 1) await run(true);
  const samples = [];
  while (samples.length < count) samples.push(await run(false));
  return samples;
}

/** The middle value; the mean of the two in the middle when their number is even. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * How many times as much `ours` cost as `floor`: the median of the ratios round by round, so that a slow phase of the
 * machine, which hits both contestants of a round, cancels out.
 */
export function ratioOf(ours, floor) {
  const ratios = ours.map((value, round) => value / floor[round]);
  return { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
}

/** @param {{ median: number, least: number, most: number }} ratio */
export function formatRatio({ median: middle, least, most }) {
  return `${middle.toFixed(2)}x (${least.toFixed(2)} to ${most.toFixed(2)})`;
}
