import { requireFunction, requireLimit, requireOptions } from "../../internal/checks.js";
import { Fanout } from "./fan-out.js";
import { Collection } from "./outlet.js";
import { countFanOut } from "./count-fan-out.js";
import { type Items, requireItems, Source } from "./source.js";

/** Options of `map`. */
export interface MapOptions {
  /**
   * Most items in flight at once: an integer from 1 up, or Infinity. Default: as many as the run allows (`concurrency`
   * of the App, 1024 unless set); outside a run 1024.
   */
  readonly concurrency?: number | undefined;
}

/**
 * Calls `f` with every item, several at once, and collects the results in the order of the items. Items start in order
 * too. `f` may be sync or async; it gets the item as it comes, a promise as a promise.
 *
 * The source is read only as far as items can start, and at most one ahead, so an endless one, or one of a million
 * items, is fine. Between results that are there at once the event loop gets its turn about every 20 ms.
 *
 * When a call fails, no further item starts and the source is closed; acquires of its items that wait are released;
 * calls in flight end; then `map` rejects. The same when the run is aborted or a time limit around it passes.
 *
 * @returns The results, in the order of the items.
 * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when an argument cannot be; the source is then untouched.
 * @throws What the first failed call, or the source, has thrown: that error itself.
 * @throws RunAbortedError (`RUN_ABORTED`), or the reason given to `abort`, when the run is aborted.
 * @throws DeadlineExceededError (`DEADLINE_EXCEEDED`) when a time limit around it passes.
 * @throws The reason of the stop, when main calls it in a run that is told to stop and not all items had started.
 * @example
 * const pages = await map(fetchPage, urls, { concurrency: 10 });
 */
export function map<T, R>(
  f: (item: T) => R,
  items: Iterable<T> | AsyncIterable<T>,
  options?: MapOptions,
): Promise<Awaited<R>[]> {
  return new Promise((resolve, reject) => {
    const concurrency = requireFanout(f, items, options);
    const collection = new Collection<Awaited<R>>(resolve, reject);
    new Fanout(f as Call<T, R>, new Source(items), concurrency, collection, countFanOut(f, items)).advance();
  });
}

/** What `f` is to a fan-out: `R` may be a promise, the fan-out works with what it resolves to. */
export type Call<T, R> = (item: T) => Awaited<R> | PromiseLike<Awaited<R>>;

/**
 * Checks the arguments of a fan-out, without touching the source.
 *
 * @returns The concurrency, when one is given.
 */
export function requireFanout<T>(
  f: unknown,
  items: Items<T>,
  options: MapOptions | undefined,
): number | undefined {
  requireFunction("f", f);
  requireItems(items);
  const concurrency = requireOptions("options", options)?.concurrency;
  return concurrency === undefined ? undefined : requireLimit("concurrency", concurrency);
}
