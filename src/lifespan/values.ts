import { MissingContextError, requireKey } from "../context/index.js";
import type { AnyContextKey, ValueSlot, ValueSource } from "../context/index.js";
import { DuplicateProvideError, EnvironmentStateError } from "./errors.js";

/** The place of one key in an environment. */
export interface Slot extends ValueSlot {
  readonly kind: "value" | "owned" | "lazy";
  /** For `describe()`. */
  readonly state: string;
  /** Whether the value was closed; reading it is then an error. */
  readonly closed: boolean;
  /** Whether the environment closes `value` for this slot. */
  owns(value: unknown): boolean;
}

/** One line of `describe()`. */
export interface ValueDescription {
  /** The name of the key. */
  readonly key: string;
  /** Borrowed, closed by the environment, or made at its first use. */
  readonly kind: "value" | "owned" | "lazy";
  /** "open", "closed", "opening" (a promise has not arrived), "not made" or "making". */
  readonly state: string;
}

/**
 * The values of one start of an environment. Each start has its own, so that code which outlives a start gets an
 * error and never a closed value, also when the environment runs again.
 */
export class Values implements ValueSource {
  readonly name: string;
  readonly #parent: ValueSource | undefined;
  readonly #slots = new Map<AnyContextKey, Slot>();
  readonly #names = new Map<string, AnyContextKey>();
  #state: (() => string) | undefined;
  /** What was found last: code in a loop asks for one key, and the Map is half the cost of a lookup. */
  #lastKey: AnyContextKey | undefined;
  #lastSlot: ValueSlot | undefined;

  /** @param state - Reads the state of the environment. */
  constructor(name: string, parent: ValueSource | undefined, state: () => string) {
    this.name = name;
    this.#parent = parent;
    this.#state = state;
  }

  get state(): string {
    return this.#state?.() ?? "stopped";
  }

  find(key: AnyContextKey): ValueSlot | undefined {
    return key === this.#lastKey ? this.#lastSlot : this.#search(key);
  }

  #search(key: AnyContextKey): ValueSlot | undefined {
    if (this.#state === undefined) {
      throw new EnvironmentStateError(
        this.name,
        "stopped",
        `This code outlives the start that it belongs to, so context key "${key.name}" has no value for it any more. ` +
          `Wait for the work before environment.stop(), and start it anew with app.run() or environment.run(body).`,
      );
    }
    const slot = this.#slots.get(key) ?? this.#parent?.find(key);
    if (slot !== undefined) {
      this.#lastKey = key;
      this.#lastSlot = slot;
    }
    return slot;
  }

  keys(): readonly AnyContextKey[] {
    return [...new Set([...this.#slots.keys(), ...(this.#parent?.keys() ?? [])])];
  }

  /** @throws DuplicateProvideError (`PROVIDE_DUPLICATE`) when the key or its name is taken. */
  add(key: AnyContextKey, slot: Slot): void {
    const taken = this.#names.get(key.name);
    if (taken !== undefined) throw new DuplicateProvideError(key, this.name, taken === key);
    this.#names.set(key.name, key);
    this.#slots.set(key, slot);
    this.#forgetLast(); // it may be found in the parent up to now
  }

  remove(key: AnyContextKey): void {
    this.#names.delete(key.name);
    this.#slots.delete(key);
    this.#forgetLast();
  }

  /** Whether the environment closes `value` already, under this key. */
  owns(key: AnyContextKey, value: unknown): boolean {
    return this.#slots.get(key)?.owns(value) === true;
  }

  describe(): readonly ValueDescription[] {
    return [...this.#slots].map(([{ name }, { kind, state }]) => ({ key: name, kind, state }));
  }

  /** From now on every lookup is an error; nothing of the values is kept. */
  close(): void {
    this.#state = undefined;
    this.#slots.clear();
    this.#names.clear();
    this.#forgetLast();
  }

  /** Both, for a key that is undefined by mistake must not find what was found before. */
  #forgetLast(): void {
    this.#lastKey = this.#lastSlot = undefined;
  }
}

/** The values that `source` and its parents have now, by the names of their keys. One that is made at its first use is not made. */
export function* openValues(
  source: ValueSource,
): Generator<readonly [key: string, value: unknown], void, void> {
  for (const key of source.keys()) {
    const slot = source.find(key) as Slot | undefined;
    if (slot?.state === "open") yield [key.name, slot.read()];
  }
}

/**
 * What `source` provides under `key`, else the key's default.
 *
 * @throws MissingContextError (`CONTEXT_MISSING`) when there is neither.
 */
export function valueOf(source: ValueSource, key: AnyContextKey): unknown {
  const slot = source.find(requireKey(key));
  if (slot !== undefined) return slot.read();
  if (key.defaultValue !== undefined) return key.defaultValue() as unknown;
  throw new MissingContextError(key, source);
}

/** The error for reading a value that its environment has closed. */
export function closedError(key: AnyContextKey, source: ValueSource): EnvironmentStateError {
  return new EnvironmentStateError(
    source.name,
    source.state,
    `The value of context key "${key.name}" is closed already: values are closed last first. What needs it while ` +
      `closing must be provided or deferred after it.`,
  );
}
