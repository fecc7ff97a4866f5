import { parseArgs } from "node:util";

interface NumberOption {
  readonly meaning: string;
  readonly default: number;
  readonly least: number;
  readonly most: number;
  /** Whether it has to be an integer. */
  readonly whole: boolean;
}

const OPTIONS = {
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

type OptionName = keyof typeof OPTIONS;
const NAMES = Object.keys(OPTIONS) as OptionName[];

/** What the command line says, with the defaults for what it leaves out. */
export type CrawlOptions = Readonly<Record<OptionName, number>>;

/** @throws Error for people, when there is an option that is not known or cannot be. */
export function readOptions(args: readonly string[]): CrawlOptions {
  const { values } = parseArgs({
    args: [...args],
    options: Object.fromEntries(NAMES.map((name) => [name, { type: "string" as const }])),
  });
  const given = values as Partial<Record<OptionName, string>>;
  const options = Object.fromEntries(
    NAMES.map((name) => [name, readNumber(name, given[name])]),
  ) as unknown as CrawlOptions;
  if (options.hosts > options.pages) {
    throw new Error(
      `--hosts must be at most --pages, which is ${String(options.pages)}; got ${String(options.hosts)}.`,
    );
  }
  return options;
}

/** One line for each option. */
export function usage(): string {
  return NAMES.map((name) => {
    const { meaning, least, most, default: standard } = OPTIONS[name];
    const range = `${String(least)} to ${String(most)}, default ${String(standard)}`;
    return `  --${name} <n>`.padEnd(18) + `${meaning}: ${range}`;
  }).join("\n");
}

function readNumber(name: OptionName, text: string | undefined): number {
  const { default: standard, least, most, whole }: NumberOption = OPTIONS[name];
  if (text === undefined) return standard;
  const value = text.trim() === "" ? NaN : Number(text);
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
  throw new Error(
    `--${name} must be ${whole ? "an integer" : "a number"} from ${String(least)} to ${String(most)}; got "${text}".`,
  );
}
