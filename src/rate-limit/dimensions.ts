import { describeValue, InvalidArgumentError } from "../errors.js";
import { requireCount } from "../internal/checks.js";
import type { Costs } from "./bucket/budget-meter.js";

/** The named dimensions of a budget, and the records that speak of them. */
export class Dimensions<D extends string> {
  /** In the order in which they were given. */
  readonly names: readonly D[];
  /** No tokens of any. */
  readonly nothing: Costs<D>;

  /** @throws InvalidArgumentError (`ARGUMENT_INVALID`) when there is none, or for a name that every object has. */
  constructor(dimensions: Readonly<Record<D, unknown>>) {
    this.names = Object.keys(requireRecord("dimensions", dimensions, "a rate for each dimension")) as D[];
    if (this.names.length === 0)
      throw new InvalidArgumentError("dimensions", "a record of at least one rate", dimensions);
    const unusable = this.names.find((name) => name in Object.prototype);
    if (unusable !== undefined)
      throw new InvalidArgumentError("dimensions", "named otherwise than what every object has", unusable);
    this.nothing = this.record(() => 0);
  }

  /**
   * Checks a record of tokens and makes it complete.
   *
   * @param absent - What a dimension that is not named has; by default 0.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) for an unknown dimension, or tokens that are no count.
   */
  complete(option: string, tokens: Partial<Record<D, number | undefined>>, absent = this.nothing): Costs<D> {
    const complete: Record<D, number> = { ...absent };
    for (const [name, count] of this.entries(option, tokens)) {
      complete[name] = requireCount(`${option}.${name}`, count);
    }
    return Object.freeze(complete);
  }

  /** What a record says: its own properties; one that is undefined is as if left out. */
  entries<T>(option: string, record: Partial<Record<D, T | undefined>>): [name: D, value: T][] {
    const entries = Object.entries<T | undefined>(
      requireRecord(option, record, `an object with ${this.#list()}`),
    );
    const unknown = entries.find(([name]) => !this.names.includes(name as D));
    if (unknown !== undefined)
      throw new InvalidArgumentError(option, `about ${this.#list()} only`, unknown[0]);
    return entries.filter(([, value]) => value !== undefined) as [D, T][];
  }

  /** A record with what `read` gives for each dimension. */
  record<T>(read: (name: D) => T): Readonly<Record<D, T>> {
    return Object.fromEntries(this.names.map((name) => [name, read(name)])) as Record<D, T>;
  }

  #list(): string {
    return this.names.map((name) => describeValue(name)).join(", ");
  }
}

function requireRecord<R extends object>(option: string, record: R, requirement: string): R {
  if (typeof record === "object" && (record as R | null) !== null && !Array.isArray(record)) return record;
  throw new InvalidArgumentError(option, requirement, record);
}
