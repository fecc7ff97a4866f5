import { requireBoolean } from "../../internal/checks.js";
import { Fanout } from "./fan-out.js";
import { type Call, type MapOptions, requireFanout } from "./map.js";
import { ResultStream } from "./result-stream.js";
import { countFanOut } from "./count-fan-out.js";
import { Source } from "./source.js";

/** Options of `mapStream`. */
export interface MapStreamOptions extends MapOptions {
  /**
   * Whether results come in the order of the items: a slow item holds the results of later ones back, not their start.
   * With `false` they come in the order in which they are ready. Default: true.
   */
  readonly ordered?: boolean | undefined;
}

/**
 * Calls `f` with every item, several at once, and gives each result as soon as it is due: in the order of the items,
 * or with `ordered: false` in the order in which they are ready. For `for await`. Nothing happens before the first
 * `next()`. The items run in the context of the code that called `mapStream`, whoever takes the results.
 *
 * A consumer that is slow holds the source up: no item starts while as many results wait for it as may be in flight,
 * which is `concurrency`; without one, or with Infinity, as many as the run allows, and 1024 where nothing bounds it. So
 * no more than `2 * concurrency - 1` items have been pulled whose result was not taken.
 *
 * Leaving early (`break`, `return()`, `throw()`) closes the source; no further item starts; acquires of items in flight
 * that wait are released; results and errors that nobody has taken are dropped; it is left when the calls in flight have
 * ended. Nobody waits for the `return()` of the source, nor hears of its errors.
 *
 * When a call fails, no further item starts and the source is closed; acquires of its items that wait are released;
 * calls in flight end. Then `next()` gives the results that come before the failed one, or with `ordered: false` all
 * there are, and then rejects. When the run is aborted or a time limit around it passes, it gives no more results, and
 * rejects once the calls in flight have ended. After a rejection the stream is done.
 *
 * Code that waits in `next()` gives its slot of the run up meanwhile, as with `map`. Calls of `next()` at once are
 * answered in order.
 *
 * @returns A stream that can be iterated once. Its `next()` rejects with:
 *   what the first failed call, or the source, has thrown, that error itself;
 *   RunAbortedError (`RUN_ABORTED`), or the reason given to `abort`, when the run is aborted;
 *   DeadlineExceededError (`DEADLINE_EXCEEDED`) when a time limit around it passes;
 *   the reason of the stop, when main calls it in a run that is told to stop and not all items had started; the results
 *   come first.
 * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when an argument cannot be; the source is then untouched.
 * @example
 * for await (const page of mapStream(fetchPage, urls, { concurrency: 10 })) await save(page);
 */
export function mapStream<T, R>(
  f: (item: T) => R,
  items: Iterable<T> | AsyncIterable<T>,
  options?: MapStreamOptions,
): AsyncGenerator<Awaited<R>, void, void> {
  const concurrency = requireFanout(f, items, options);
  const isOrdered = requireBoolean("ordered", options?.ordered ?? true);
  return new ResultStream<T, Awaited<R>>({
    isOrdered,
    concurrency,
    begin: (outlet) =>
      new Fanout(f as Call<T, R>, new Source(items), concurrency, outlet, countFanOut(f, items)),
  });
}
