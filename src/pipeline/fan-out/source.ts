import { describeValue, InvalidArgumentError } from "../../errors.js";

/** What a fan-out takes its items from. */
export type Items<T> = Iterable<T> | AsyncIterable<T>;

type AnyIterator<T> = Iterator<T, unknown> | AsyncIterator<T, unknown>;

/** Returns `items` when they can be iterated, without touching them further; else throws. */
export function requireItems<T>(items: Items<T>): Items<T> {
  const given = items as Partial<AsyncIterable<T> & Iterable<T>> | null | undefined;
  if (typeof (given?.[Symbol.asyncIterator] ?? given?.[Symbol.iterator]) === "function") return items;
  throw new InvalidArgumentError("items", "an iterable or an async iterable", items);
}

/** How many items there are, where that can be told without taking them; undefined elsewhere. */
export function sizeOf(items: Items<unknown>): number | undefined {
  if (Array.isArray(items)) return items.length;
  return items instanceof Set || items instanceof Map ? items.size : undefined;
}

/** An item of a source. */
export interface Pulled<T> {
  readonly value: T;
}

/** Steps through an iterable, one item at a time. Every step runs in the frame of its caller. */
export class Source<T> {
  readonly isAsync: boolean;
  /** It has said itself that there is no further item. */
  isExhausted = false;
  /** It must not be asked again: it is exhausted, has failed, or was closed. */
  isOver = false;
  readonly #iterator: AnyIterator<T>;
  readonly #accept: ((item: T) => T) | undefined;

  /** @param accept - Gives what is taken for an item; what it throws for one that cannot be is a failure of the source. */
  constructor(items: Items<T>, accept?: (item: T) => T) {
    this.#accept = accept;
    const open = (items as Partial<AsyncIterable<T>>)[Symbol.asyncIterator];
    this.isAsync = typeof open === "function";
    this.#iterator = open?.call(items) ?? (items as Iterable<T>)[Symbol.iterator]();
  }

  /** The next step of a source that is not async; undefined when there is no further item. */
  next(): Pulled<T> | undefined {
    try {
      return this.#read(this.#iterator.next() as IteratorResult<T, unknown>);
    } catch (error) {
      this.isOver = true;
      throw error;
    }
  }

  /** The next step of an async source. */
  async nextAsync(): Promise<Pulled<T> | undefined> {
    try {
      return this.#read(await this.#iterator.next());
    } catch (error) {
      this.isOver = true;
      throw error;
    }
  }

  /**
   * Tells a source that is not wanted any more to clean up. Nobody waits for it: a step that hangs would hold that up
   * for ever. What goes wrong in it is dropped, for the caller is about to hear of what went wrong first.
   */
  close(): void {
    if (this.isOver) return;
    this.isOver = true;
    try {
      const closing: unknown = this.#iterator.return?.();
      Promise.resolve(closing).then(undefined, () => undefined);
    } catch {
      return;
    }
  }

  #read(step: IteratorResult<T, unknown>): Pulled<T> | undefined {
    if (typeof step !== "object" || (step as unknown) === null) {
      throw new TypeError(`The iterator of "items" gave ${describeValue(step)} instead of an object.`);
    }
    // Read here, for it may run code of the source: what that throws is a failure of the source.
    if (step.done === true) {
      this.isOver = true;
      this.isExhausted = true;
      return undefined;
    }
    const { value } = step;
    if (this.#accept === undefined) return { value };
    try {
      return { value: this.#accept(value) };
    } catch (error) {
      this.close(); // it does not know that it has failed
      throw error;
    }
  }
}
