import { type NumberOption, readNumbers } from "../support/number-options.js";

export const OPTIONS = {
  jobs: { meaning: "jobs to be done", default: 2_000, least: 1, most: 20_000, whole: true },
  rate: {
    meaning: "requests a second that the service allows",
    default: 200,
    least: 1,
    most: 1_000,
    whole: false,
  },
  workers: { meaning: "processes that work", default: 4, least: 1, most: 16, whole: true },
} satisfies Record<string, NumberOption>;

export type FleetOptions = Readonly<Record<keyof typeof OPTIONS, number>>;

/** @throws Error for people, when there is an option that is not known or cannot be. */
export function readOptions(args: readonly string[]): FleetOptions {
  return readNumbers(OPTIONS, args);
}
