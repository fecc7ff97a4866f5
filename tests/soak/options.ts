import { parseArgs } from "node:util";

export interface SoakOptions {
  readonly seconds: number;
  readonly seed: number;
}

/**
 * Reads the command line: `--seconds`, how long; `--seed`, of the first round, by default another each time.
 *
 * @throws TypeError for an option that is unknown or no such number.
 */
export function readOptions(args: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: { seconds: { type: "string", default: "600" }, seed: { type: "string" } },
  });
  const seconds = Number(values.seconds);
  if (!(seconds > 0 && seconds < Infinity)) {
    throw new TypeError(`--seconds must be a finite number above 0; got "${values.seconds}".`);
  }
  if (values.seed === undefined) return { seconds, seed: Math.floor(Math.random() * 2 ** 32) };
  const seed = Number(values.seed);
  if (values.seed.trim() === "" || !Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32) {
    throw new TypeError(`--seed must be an integer from 0 to 4294967295; got "${values.seed}".`);
  }
  return { seconds, seed };
}
