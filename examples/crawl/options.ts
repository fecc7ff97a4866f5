import { type NumberOption, readNumbers } from "../support/number-options.js";

export const OPTIONS = {
  pages: {
    meaning: "pages of the site, over all hosts",
    default: 2_000,
    least: 1,
    most: 20_000,
    whole: true,
  },
  hosts: { meaning: "hosts that the pages are spread over", default: 4, least: 1, most: 50, whole: true },
  rate: {
    meaning: "requests a second that each host allows",
    default: 50,
    least: 1,
    most: 1_000,
    whole: false,
  },
  "slow-ms": {
    meaning: "how long a slow page takes, in milliseconds",
    default: 500,
    least: 0,
    most: 600_000,
    whole: true,
  },
  seed: { meaning: "another seed, another site", default: 1, least: 0, most: 1e9, whole: true },
} satisfies Record<string, NumberOption>;

export type CrawlOptions = Readonly<Record<keyof typeof OPTIONS, number>>;

/** @throws Error for people, when there is an option that is not known or cannot be. */
export function readOptions(args: readonly string[]): CrawlOptions {
  const options = readNumbers(OPTIONS, args);
  if (options.hosts > options.pages) {
    throw new Error(
      `--hosts must be at most --pages, which is ${String(options.pages)}; got ${String(options.hosts)}.`,
    );
  }
  return options;
}
