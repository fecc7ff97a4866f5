import { parseArgs } from "node:util";

/** A number that can be given on the command line. */
export interface NumberOption {
  readonly meaning: string;
  readonly default: number;
  readonly least: number;
  readonly most: number;
  /** Whether it has to be an integer. */
  readonly whole: boolean;
}

/**
 * What the command line says, with the defaults for what it leaves out.
 *
 * @throws Error for people, when there is an option that is not known or cannot be.
 */
export function readNumbers<Name extends string>(
  options: Readonly<Record<Name, NumberOption>>,
  args: readonly string[],
): Readonly<Record<Name, number>> {
  const names = Object.keys(options) as Name[];
  const { values } = parseArgs({
    args: [...args],
    options: Object.fromEntries(names.map((name) => [name, { type: "string" as const }])),
  });
  const given = values as Partial<Record<Name, string>>;
  return Object.fromEntries(
    names.map((name) => [name, readNumber(name, options[name], given[name])]),
  ) as Record<Name, number>;
}

function readNumber(name: string, option: NumberOption, text: string | undefined): number {
  const { default: standard, least, most, whole } = option;
  if (text === undefined) return standard;
  const value = text.trim() === "" ? NaN : Number(text);
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
  throw new Error(
    `--${name} must be ${whole ? "an integer" : "a number"} from ${String(least)} to ${String(most)}; got "${text}".`,
  );
}

/** Reads the options of this process. When one is wrong, says so, shows all of them, and exits with 2. */
export function readOrExit<Read>(
  read: (args: readonly string[]) => Read,
  options: Readonly<Record<string, NumberOption>>,
): Read {
  try {
    return read(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\nOptions:\n${usage(options)}`);
    process.exit(2);
  }
}

/** One line for each option. */
function usage(options: Readonly<Record<string, NumberOption>>): string {
  return Object.entries(options)
    .map(([name, { meaning, least, most, default: standard }]) => {
      const range = `${String(least)} to ${String(most)}, default ${String(standard)}`;
      return `  --${name} <n>`.padEnd(18) + `${meaning}: ${range}`;
    })
    .join("\n");
}
