import { InvalidArgumentError } from "../errors.js";
import { requireFunction, requireName, requireOptions } from "../internal/checks.js";

const BRAND = Symbol.for("tidegate/context-key");

/** Options of a {@link ContextKey}. */
export interface ContextKeyOptions<T> {
  /**
   * Makes the value that lookups give where nothing is provided. Called at the first such lookup, once per key; a
   * call that throws is not remembered.
   */
  readonly defaultValue?: (() => T) | undefined;
}

/**
 * The typed name of a shared value. Keys are compared by identity, so make each one once, at the top of a module, and
 * export it. The name is for people: it stands in error messages.
 *
 * Keys are invariant: a `ContextKey<Dog>` is neither a `ContextKey<Animal>` nor the reverse.
 *
 * @example
 * export const DB = new ContextKey<Database>("db");
 */
export class ContextKey<in out T> {
  /** Only for the type checker: holds the type of the value, in both directions. */
  declare readonly "~type"?: (value: T) => T;
  /** For people, in messages and reports: keys are compared by identity. */
  readonly name: string;
  /** The default of the key, made once; undefined when the key has none. */
  readonly defaultValue: (() => T) | undefined;

  /**
   * @param name - Not empty; unique within one environment.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) for another name, or a default that is not a function.
   */
  constructor(name: string, options?: ContextKeyOptions<T>) {
    requireName("name", name);
    const make = requireOptions("options", options)?.defaultValue;
    this.name = name;
    this.defaultValue = make === undefined ? undefined : once(requireFunction("defaultValue", make));
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** A key of any type: what lists of keys and untyped code hold. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- invariance: no other type accepts every key
export type AnyContextKey = ContextKey<any>;

/** Returns `key` when it is a ContextKey, of any copy of the package; else throws. */
export function requireKey<K extends AnyContextKey>(key: K, option = "key"): K {
  if (typeof key === "object" && (key as unknown) !== null && BRAND in key) return key;
  throw new InvalidArgumentError(option, "a ContextKey", key);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
