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
    this.names = isRecord(dimensions) ? (Object.keys(dimensions) as D[]) : [];
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

  /** What a record says; a dimension that is undefined is as if left out. */
  entries<T>(option: string, record: Partial<Record<D, T | undefined>>): [name: D, value: T][] {
    if (!isRecord(record) || !speaksOf(record, this.names))
      throw new InvalidArgumentError(option, `an object with ${this.#list()}`, record);
    const unknown = Object.keys(record).find((name) => !this.names.includes(name as D));
    if (unknown !== undefined) throw new InvalidArgumentError(option, `about ${this.#list()} only`, unknown);
    return this.names.flatMap((name) => {
      const value = record[name];
      return value === undefined ? [] : [[name, value]];
    });
  }

  /** A record with what `read` gives for each dimension. */
  record<T>(read: (name: D) => T): Readonly<Record<D, T>> {
    return Object.fromEntries(this.names.map((name) => [name, read(name)])) as Record<D, T>;
  }

  #list(): string {
    return this.names.map((name) => describeValue(name)).join(", ");
  }
}

/** Whether it is an object that can have properties for names. */
function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Whether a record speaks of dimensions: a promise, a Map or a date has none, and would cost nothing if it were taken
 * for a record. So it must be a plain object, or have one of the names.
 */
function speaksOf(record: object, names: readonly string[]): boolean {
  const prototype: unknown = Object.getPrototypeOf(record);
  // Of a plain object of another realm the prototype is another one, but it too has none itself.
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return isPlain || names.some((name) => name in record);
}
