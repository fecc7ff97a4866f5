import { NoEnvironmentError } from "../../context/index.js";
import { InvalidArgumentError } from "../../errors.js";
import { requireFunction } from "../../internal/checks.js";
import { nameOf } from "../../internal/name-of.js";
import { currentRun, type Environment, EnvironmentStateError, type Run } from "../../lifespan/index.js";
import { Fanout } from "../fan-out/fan-out.js";
import { type MapOptions, requireFanout } from "../fan-out/map.js";
import { countFanOut } from "../fan-out/count-fan-out.js";
import { Source } from "../fan-out/source.js";
import type { MountHandle } from "./mount-handle.js";
import { Mounting, type MountPlan } from "./mounting.js";

/**
 * Starts `f(...args)` in the background of the run, and goes on when it has started: it takes a slot of the run, as an
 * item of `map` does, and waits for one when none is free. `f` may be sync or async.
 *
 * Mounted work belongs to the run, not to the caller. It sees the overrides of the caller, but no time limit around it
 * and no failed fan-out ends it, only the abort of the run; and the run is over only when all that was mounted in it has
 * ended. A failure stays where it is: it goes to the exception handlers ({@link withExceptionHandler}, innermost first,
 * then that of the environment), and without one it is a line: to the progress reporter of the run, else on stderr. Work that fails because its run is aborted is
 * not reported.
 *
 * An item that awaits this call gives its slot up until then, so mounting in mounted work does not deadlock at any
 * depth. `environment.run()` gives its result without waiting for mounted work; the stop of the environment waits.
 *
 * @returns A handle, which may be dropped. All of the following are rejections.
 * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `f` is not a function.
 * @throws NoEnvironmentError (`ENVIRONMENT_MISSING`) outside every run, also while the default environment runs.
 * @throws EnvironmentStateError (`ENVIRONMENT_STATE`) when the run of the calling code has ended.
 * @throws The reason of the abort, or DeadlineExceededError (`DEADLINE_EXCEEDED`), when the run is aborted or a time
 *   limit around this call passes before `f` has started.
 * @throws The reason of the stop, when main calls it in a run that is told to stop.
 * @example
 * await mount(refreshCache, region);
 */
export function mount<A extends unknown[]>(f: (...args: A) => unknown, ...args: A): Promise<MountHandle> {
  return new Promise((resolve, reject) => {
    requireFunction("f", f);
    const run = requireRun("mount");
    const items: (readonly [undefined, A])[] = [[undefined, args]];
    const plan: MountPlan<A> = {
      source: "mount",
      name: nameOf(f),
      call: (given) => f(...given),
      count: countFanOut(f, items),
    };
    const mounting = new Mounting<undefined, A>(plan, run, resolve, reject);
    new Fanout(mounting.start, new Source(items), undefined, mounting, undefined).advance();
  });
}

/**
 * Mounts `f(item)` for every entry, several at once, as {@link mount} does: in the background, with a failure of one
 * staying with that one. It goes on when the source is exhausted and all items have started. The keys are for reports; a
 * Map and `Object.entries(...)` are sources as they are.
 *
 * The source is read only as far as items can start, and at most one ahead. Reading it belongs to the caller: when the
 * run is aborted, a time limit around the call passes, or a fan-out around it fails, no further item starts, the source
 * is closed, and the call rejects. So it does when the source fails or gives something that is no entry. Items that have
 * started go on, and the run waits for them.
 *
 * An item that awaits this call gives its slot up from its first child on.
 *
 * @param items - Entries: arrays of a key and an item. Keys may be anything and need not differ.
 * @param options - `concurrency`: most items of this call in flight at once.
 * @returns A handle, which may be dropped. All of the following are rejections.
 * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when an argument cannot be; the source is then untouched. Also for an
 *   entry that is no pair.
 * @throws What the source has thrown, itself.
 * @throws As {@link mount}: outside every run; when the run, or a time limit, ends before all items have started; in a
 *   run that is told to stop.
 * @example
 * const handle = await mountEach(crawlHost, hostsByName, { concurrency: 10 });
 * await handle.ready();
 */
export function mountEach<K, T>(
  f: (item: T) => unknown,
  items: Iterable<readonly [K, T]> | AsyncIterable<readonly [K, T]>,
  options?: MapOptions,
): Promise<MountHandle> {
  return new Promise((resolve, reject) => {
    const concurrency = requireFanout(f, items, options);
    const run = requireRun("mountEach");
    const source = new Source<readonly [K, T]>(items, readEntry<K, T>);
    const count = countFanOut(f, items);
    const plan: MountPlan<T> = { source: "mountEach", name: nameOf(f), call: f, count };
    const mounting = new Mounting<K, T>(plan, run, resolve, reject);
    new Fanout(mounting.start, source, concurrency, mounting, undefined).advance();
  });
}

/** The entry in an array of its own, for to read the given one may run code that throws. */
function readEntry<K, T>(entry: readonly [K, T]): readonly [K, T] {
  const { length }: { readonly length: number } = Array.isArray(entry) ? entry : [];
  if (length === 2) return [entry[0], entry[1]];
  throw new InvalidArgumentError("items", "made of entries, [key, item] each", entry);
}

function requireRun(caller: string): Run {
  const run = currentRun();
  if (run === undefined) {
    throw new NoEnvironmentError(
      `${caller}() was called outside every run, where nobody would wait for its work.`,
    );
  }
  if (!run.ended) return run;
  const { name, state } = run.environment as Environment;
  throw new EnvironmentStateError(
    name,
    state,
    `${caller}() was called by code that is left over from a run that has ended, so nobody would wait for its work. ` +
      `Await that code before the run ends, or begin a run of its own with environment.run(body).`,
  );
}
