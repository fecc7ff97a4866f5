// Checked by `npm run types`; never run.
import {
  App,
  batched,
  ContextKey,
  type EnvironmentBuilder,
  type ExceptionHandler,
  type ExceptionInfo,
  fn,
  type Limiter,
  map,
  mapStream,
  type MapStreamOptions,
  mount,
  mountEach,
  type MountHandle,
  type MountStats,
  type MountStep,
  type ProgressReporter,
  type RateBudget,
  RateLimiter,
  type RunHandle,
  runMain,
  withExceptionHandler,
  terminalProgress,
  withTimeout,
} from "tidegate";

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- compares without assignability
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function expectType<A>(value: A): { toBe<B>(are: Same<A, B>): void };

interface Item {
  readonly id: string;
}
declare const items: Item[];
const LIMITER = new ContextKey<RateLimiter>("limiter");
const PLAIN = new ContextKey<Limiter>("plain");

// fn keeps the type of what it wraps, generics and overloads included.
const identity = fn(<T>(value: T): T => value);
expectType(identity).toBe<<T>(value: T) => T>(true);

declare function overloaded(value: string): string;
declare function overloaded(value: number): Promise<number>;
const wrapped = fn(overloaded);
expectType(wrapped).toBe<typeof overloaded>(true);

class Counter {
  count = 0;
  add = fn({ name: "add" }, function add(this: Counter, by: number): number {
    return (this.count += by);
  });
}
expectType(new Counter().add(1)).toBe<number>(true);

const limited = fn({ rateLimit: LIMITER, concurrency: 3 }, async <T>(value: T): Promise<T> =>
  Promise.resolve(value),
);
expectType(limited).toBe<<T>(value: T) => Promise<T>>(true);

// Sync generators and functions may have a name, but no limit: a limit makes the caller wait.
fn({ name: "steps" }, function* () {
  yield 1;
});
// @ts-expect-error f must return a promise
fn({ concurrency: 3 }, (n: number) => n);
// @ts-expect-error f must return a promise
fn({ rateLimit: LIMITER }, (n: number) => n);
// @ts-expect-error a limiter is reached by a key
fn({ rateLimit: new RateLimiter({ maxRowsPerSecond: 1 }) }, async () => Promise.resolve());
// @ts-expect-error the key of something else
fn({ rateLimit: new ContextKey<string>("text") }, async () => Promise.resolve());
// @ts-expect-error no such option
fn({ retries: 3 }, async () => Promise.resolve());

// cost and settle see the arguments of the call, settle its result too.
fn(
  {
    rateLimit: {
      key: LIMITER,
      cost: (item, words) => item.id.length + words,
      settle: (tokens, item) => tokens.used + item.id.length,
    },
  },
  async (_item: Item, _words: number) => Promise.resolve({ used: 1 }),
);
fn({ rateLimit: { key: PLAIN, cost: (item) => item.id.length } }, async (_item: Item) => Promise.resolve());
// @ts-expect-error cost gives a number
fn({ rateLimit: { key: PLAIN, cost: () => "1" } }, async () => Promise.resolve());
// @ts-expect-error an object without cost: the key alone says the same
fn({ rateLimit: { key: PLAIN } }, async () => Promise.resolve());
// @ts-expect-error settle needs a limiter that takes corrections
fn({ rateLimit: { key: PLAIN, cost: () => 1, settle: () => 1 } }, async () => Promise.resolve());

// A budget: cost and settle give records of its dimensions; settle may leave some out.
declare const BUDGET: ContextKey<RateBudget<"requests" | "tokens">>;
fn(
  {
    rateLimit: {
      key: BUDGET,
      cost: (item) => ({ requests: 1, tokens: item.id.length }),
      settle: (answer, item) => ({ tokens: answer.used + item.id.length }),
    },
  },
  async (_item: Item) => Promise.resolve({ used: 1 }),
);
// @ts-expect-error a budget needs to know what a call costs
fn({ rateLimit: BUDGET }, async () => Promise.resolve());
// @ts-expect-error no such dimension
fn({ rateLimit: { key: BUDGET, cost: () => ({ bytes: 1 }) } }, async () => Promise.resolve());
// @ts-expect-error a budget takes a record
fn({ rateLimit: { key: BUDGET, cost: () => 1 } }, async () => Promise.resolve());
// @ts-expect-error a limiter takes a number
fn({ rateLimit: { key: LIMITER, cost: () => ({ tokens: 1 }) } }, async () => Promise.resolve());

// batched: items and results come from f; promises among the results are settled.
const one = batched({ maxBatchSize: 10, maxWaitMs: 5, name: "one" }, async (all: Item[]) =>
  Promise.resolve(all.map(({ id }) => id.length)),
);
expectType(one).toBe<(item: Item) => Promise<number>>(true);
const oneSync = batched({ maxBatchSize: 10 }, (all: readonly Item[]): readonly string[] =>
  all.map(({ id }) => id),
);
expectType(oneSync).toBe<(item: Item) => Promise<string>>(true);
const oneEach = batched({ maxBatchSize: 10 }, (all: string[]) =>
  all.map(async (id) => Promise.resolve({ id })),
);
expectType(oneEach).toBe<(item: string) => Promise<{ id: string }>>(true);
const same = (all: Item[]): Item[] => all;
batched({ maxBatchSize: 10, rateLimit: LIMITER, concurrency: 2 }, same);
batched({ maxBatchSize: 10, rateLimit: PLAIN }, (all: Item[]) => all);
const oneSettled = batched(
  {
    maxBatchSize: 10,
    rateLimit: {
      key: BUDGET,
      cost: (all) => ({ requests: 1, tokens: all.length }),
      settle: (results, all) => ({ tokens: results.length + all.length }),
    },
  },
  async (all: Item[]) => Promise.resolve(all.map(({ id }) => id)),
);
expectType(oneSettled).toBe<(item: Item) => Promise<string>>(true);
batched(
  {
    maxBatchSize: 10,
    rateLimit: {
      key: LIMITER,
      cost: (all) => all.reduce((sum, { id }) => sum + id.length, 0),
      settle: (results) => results.reduce((sum, { used }) => sum + used, 0),
    },
  },
  async (all: Item[]) => Promise.resolve(all.map(() => ({ used: 1 }))),
);
// @ts-expect-error a number for each item is no list
batched({ maxBatchSize: 10 }, (all: Item[]) => all.length);
// @ts-expect-error the size is missing
batched({ maxWaitMs: 10 }, same);
// @ts-expect-error a budget needs to know what a batch costs
batched({ maxBatchSize: 10, rateLimit: BUDGET }, same);
// @ts-expect-error no such dimension
batched({ maxBatchSize: 10, rateLimit: { key: BUDGET, cost: () => ({ bytes: 1 }) } }, same);
// @ts-expect-error settle needs a limiter that takes corrections
batched({ maxBatchSize: 10, rateLimit: { key: PLAIN, cost: () => 1, settle: () => 1 } }, same);
// @ts-expect-error no such option
batched({ maxBatchSize: 10, retries: 3 }, same);
// @ts-expect-error the item is of another type
void one("text");

// map: the results are settled; sources may be async; f must take the items.
const plain = map((item: Item) => item.id, items);
expectType(plain).toBe<Promise<string[]>>(true);
const awaited = map(async (item: Item) => Promise.resolve(item.id), new Set(items), {
  concurrency: Infinity,
});
expectType(awaited).toBe<Promise<string[]>>(true);
declare const stream: AsyncIterable<Item>;
const streamed = map((item) => item.id, stream);
expectType(streamed).toBe<Promise<string[]>>(true);
const promised = map(async (item: Promise<Item>) => (await item).id, [Promise.resolve({ id: "a" })]);
expectType(promised).toBe<Promise<string[]>>(true);
const generic = map(identity, items);
expectType(generic).toBe<Promise<Item[]>>(true);
const optional: { concurrency?: number } = {};
void map((item: Item) => item, items, { concurrency: optional.concurrency });
// @ts-expect-error f takes numbers
void map((n: number) => n, items);
// @ts-expect-error no iterable
void map((n: number) => n, 5);
// @ts-expect-error no such option
void map((item: Item) => item, items, { limit: 3 });

// mapStream: a generator of settled results, for "for await" and for what takes an async iterable.
const results = mapStream(async (item: Item) => Promise.resolve(item.id), stream, { ordered: false });
expectType(results).toBe<AsyncGenerator<string, void, void>>(true);
expectType(mapStream(identity, items)).toBe<AsyncGenerator<Item, void, void>>(true);
void map((id: string) => id, results);
void results.return();
const streamOptions: MapStreamOptions = { concurrency: optional.concurrency, ordered: undefined };
void mapStream((item: Item) => item, items, streamOptions);
// @ts-expect-error f takes numbers
void mapStream((n: number) => n, items);
// @ts-expect-error no such option
void mapStream((item: Item) => item, items, { order: false });
// @ts-expect-error ordered is no option of map
void map((item: Item) => item, items, { ordered: false });

// mount: the arguments are those of f; any result is taken.
expectType(mount((item: Item, n: number) => item.id.repeat(n), { id: "a" }, 2)).toBe<Promise<MountHandle>>(
  true,
);
void mount(async () => Promise.resolve(1));
void mount(identity, 5);
// @ts-expect-error an argument is missing
void mount((item: Item) => item.id);
// @ts-expect-error an argument too many
void mount(() => 1, 2);
// @ts-expect-error the argument is of another type
void mount((item: Item) => item.id, "a");

// mountEach: entries of any keys, and of items that f takes. A Map and Object.entries are entries as they are.
declare const byId: Map<symbol, Item>;
expectType(mountEach((item: Item) => item.id, byId)).toBe<Promise<MountHandle>>(true);
void mountEach(async (item) => Promise.resolve(item.id), Object.entries({ a: { id: "a" } }));
declare const entryStream: AsyncIterable<readonly [number, Item]>;
void mountEach((item) => item.id, entryStream, { concurrency: optional.concurrency });
void mountEach(
  (item: Item) => item,
  items.map((item) => [item.id, item] as const),
);
// @ts-expect-error items alone are no entries
void mountEach((item: Item) => item, items);
// @ts-expect-error f takes numbers
void mountEach((n: number) => n, byId);
// @ts-expect-error no such option
void mountEach((item: Item) => item, byId, { ordered: true });
declare const mounted: MountHandle;
expectType(mounted.ready()).toBe<Promise<void>>(true);
expectType(mounted.stats()).toBe<MountStats>(true);
// @ts-expect-error counts are read only
mounted.stats().done = 5;

// Exception handlers: anything can be thrown; they may be async; body's type passes through.
const onFailure: ExceptionHandler = (error, info) => {
  expectType(error).toBe<unknown>(true);
  expectType(info).toBe<ExceptionInfo>(true);
  expectType(info.source).toBe<"handler" | "mount" | "mountEach">(true);
  expectType(info.path).toBe<readonly MountStep[]>(true);
};
expectType(withExceptionHandler(onFailure, () => 5)).toBe<number>(true);
expectType(
  withExceptionHandler(
    async () => Promise.resolve(),
    async () => Promise.resolve("x"),
  ),
).toBe<Promise<string>>(true);
declare const builder: EnvironmentBuilder;
builder.setExceptionHandler(onFailure);
// @ts-expect-error a handler gives nothing back
builder.setExceptionHandler(() => 5);
// @ts-expect-error the body is missing
withExceptionHandler(onFailure);

// App: the arguments are those of main; the handle gives the settled result.
const app = new App(
  "app",
  async (all: Item[], prefix: string) => map((item) => prefix + item.id, all),
  items,
  "x",
);
expectType(app).toBe<App<[all: Item[], prefix: string], Promise<string[]>>>(true);
const handle = app.run({ signal: new AbortController().signal });
expectType(handle).toBe<RunHandle<string[]>>(true);
declare const settled: Awaited<typeof handle>;
expectType(settled).toBe<string[]>(true);
// @ts-expect-error an argument is missing
new App("app", (all: Item[]) => all);
// @ts-expect-error the argument is of another type
new App("app", (all: Item[]) => all, [1]);
// @ts-expect-error the name is missing
new App({ concurrency: 3 }, () => 1);
// @ts-expect-error no such option yet
app.run({ watch: true });

export async function disposes(): Promise<void> {
  await using running = app.run();
  running.abort();
}

// runMain takes any app, and the options of a run.
expectType(runMain(app, { signal: new AbortController().signal })).toBe<Promise<void>>(true);
void runMain(new App("nothing", () => undefined));
// @ts-expect-error a function is no app
void runMain(() => 1);
// @ts-expect-error no such option
void runMain(app, { forceAfterMs: 5 });

// withTimeout gives what the body gives.
expectType(withTimeout(5, () => 1)).toBe<number>(true);
const inTime = withTimeout(5, async () => Promise.resolve("x"));
expectType(inTime).toBe<Promise<string>>(true);

// Progress goes to any stream of Node.js, or to whatever writes text.
expectType(terminalProgress({ stream: process.stderr, columns: 80 })).toBe<ProgressReporter>(true);
terminalProgress({ stream: { write: (text: string) => text.length } });
// @ts-expect-error a reporter has to be told of something
export const deaf: ProgressReporter = { start: () => undefined };
