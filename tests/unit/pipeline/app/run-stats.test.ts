import { afterEach, describe, expect, test } from "@jest/globals";
import { ContextKey, useContext } from "../../../../src/context/index.js";
import { Environment } from "../../../../src/lifespan/index.js";
import { App, batched, fn, map, mapStream, type RunStats } from "../../../../src/pipeline/index.js";
import { RateBudget, RateLimiter } from "../../../../src/rate-limit/index.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { errorOf, type Gate, gate, settle } from "../helpers.js";

const clock = new ManualClock();
const LIMITER = new ContextKey<RateLimiter>("limiter");
const BUDGET = new ContextKey<RateBudget<"requests" | "tokens">>("budget");
const OTHER = new ContextKey<unknown>("other");
const LAZY = new ContextKey<RateLimiter>("lazy");

const environment = new Environment({
  name: "stats",
  clock,
  lifespan: function* (builder) {
    builder.provide(LIMITER, new RateLimiter({ maxRowsPerSecond: 2, clock }));
    builder.provide(OTHER, { stats: () => ({ queued: 1 }) });
    builder.provide(
      BUDGET,
      new RateBudget({ requests: { maxRowsPerSecond: 5 }, tokens: { maxRowsPerSecond: 100 } }, { clock }),
    );
    builder.provideLazy(LAZY, () => new RateLimiter({ maxRowsPerSecond: 1, clock }));
    yield;
  },
});
afterEach(() => environment.stop());

/** What a run of `main` has counted at its end. */
async function statsOf(main: () => unknown): Promise<RunStats> {
  const handle = new App({ name: "app", environment }, main).run();
  await handle.result().catch(() => undefined);
  return handle.stats();
}

const one = { started: 1, done: 1, failed: 0, inFlight: 0, expected: 1, percent: 100 };
const none = { started: 0, done: 0, failed: 0, inFlight: 0, expected: 0, percent: 100 };

describe("the calls of a function", () => {
  test("a call counts from its start to the settling of its promise", async () => {
    const door = gate();
    const wait = fn(async function wait() {
      await door.promise;
    });
    const handle = new App({ name: "app", environment }, () => wait()).run();
    await settle();
    const started = { started: 1, done: 0, failed: 0, inFlight: 1, expected: 1, percent: 0 };
    expect(handle.stats()).toMatchObject({ functions: [{ name: "wait", ...started }], total: started });
    door.open();
    await handle;
    expect(handle.stats()).toMatchObject({ functions: [{ name: "wait", ...one }], total: one });
  });

  test("nothing is counted before the run begins, nor outside every run", async () => {
    const f = fn(function f() {
      return 1;
    });
    await environment.start();
    const handle = new App({ name: "app", environment }, () => undefined).run();
    f();
    environment.run(f);
    expect(handle.stats()).toEqual({ functions: [], total: none, limiters: expect.anything() });
    await handle;
    expect(handle.stats().functions).toEqual([]);
  });

  test("what throws, rejects or throws undefined has failed, and its caller gets the same error", async () => {
    const error = new Error("no");
    const sync = fn(function sync() {
      throw error;
    });
    const rejects = fn(function rejects() {
      return Promise.reject(error);
    });
    const nothing = fn({ name: "nothing", concurrency: 1 }, () =>
      Promise.reject(undefined as unknown as Error),
    );
    const seen: unknown[] = [];
    const stats = await statsOf(async () => {
      try {
        sync();
      } catch (thrown) {
        seen.push(thrown);
      }
      await rejects().catch((thrown: unknown) => seen.push(thrown));
      await nothing().catch((thrown: unknown) => seen.push(thrown));
    });
    expect(seen).toEqual([error, error, undefined]);
    expect(seen[0]).toBe(error);
    const failed = { started: 1, done: 0, failed: 1, inFlight: 0, expected: 1, percent: 100 };
    expect(stats.functions).toEqual(["sync", "rejects", "nothing"].map((name) => ({ name, ...failed })));
    expect(stats.total).toEqual({ ...failed, started: 3, failed: 3, expected: 3 });
  });

  test("functions of one name count together, one without a name has one, and the order is that of the first calls", async () => {
    const stats = await statsOf(() => {
      fn({ name: "b" }, () => 1)();
      fn({ name: "a" }, () => 1)();
      fn({ name: "b" }, () => 1)();
      fn(() => 1)();
    });
    expect(stats.functions.map(({ name, started }) => [name, started])).toEqual([
      ["b", 2],
      ["a", 1],
      ["(anonymous)", 1],
    ]);
  });

  test("a function whose name is no text counts as one without a name", async () => {
    for (const name of [Symbol("s"), undefined, () => 1]) {
      const strange = Object.defineProperty((item: number) => item, "name", { value: name });
      const { functions } = await statsOf(() => map(strange, [1]));
      expect(functions).toEqual([{ name: "(anonymous)", ...one }]);
      expect((await statsOf(() => fn(strange)(1))).functions).toEqual(functions);
      expect(fn(strange).name).toBe("");
    }
  });

  test("a generator, and a thenable that is no plain promise, count as done when the call returns, and are handed on as they are", async () => {
    class Query extends Promise<number> {}
    const query = Query.resolve(1);
    const lazy = {
      then: (take: (value: number) => void): void => {
        take(2);
      },
    };
    const given: unknown[] = [];
    const stats = await statsOf(() => {
      given.push(fn({ name: "query" }, () => query)());
      given.push(fn({ name: "lazy" }, () => lazy)());
      given.push(
        fn({ name: "steps" }, function* () {
          yield 1;
        })(),
      );
    });
    expect(given[0]).toBe(query);
    expect(given[1]).toBe(lazy);
    expect(stats.functions.map(({ name, done }) => [name, done])).toEqual([
      ["query", 1],
      ["lazy", 1],
      ["steps", 1],
    ]);
  });

  test("a call of a batched function counts for each caller, and the body does not", async () => {
    const double = batched({ name: "double", maxBatchSize: 10 }, (items: number[]) =>
      Promise.resolve(items.map((item) => (item === 3 ? Promise.reject(new Error("3")) : item * 2))),
    );
    const stats = await statsOf(() => Promise.allSettled([1, 2, 3].map((item) => double(item))));
    expect(stats.functions).toMatchObject([{ name: "double", started: 3, done: 2, failed: 1 }]);
  });

  test("two runs at a time count apart, and one in another counts for itself", async () => {
    const f = fn({ name: "f" }, () => Promise.resolve());
    const inner = new App({ name: "inner", environment }, () => f());
    const outer = new App({ name: "outer", environment }, async () => {
      await f();
      return inner.run().result();
    });
    const handles = [outer.run(), outer.run()];
    await Promise.all(handles);
    for (const handle of handles) expect(handle.stats().total.started).toBe(1);
  });
});

describe("the items of a fan-out", () => {
  const wait = fn({ name: "wait" }, async (door: Promise<void>) => {
    await door;
  });

  test("a pipeline function counts once for each item, a plain one under its own name", async () => {
    const plain = (item: number): number => item;
    const stats = await statsOf(async () => {
      await map(
        fn({ name: "wrapped" }, (item: number) => item),
        [1, 2, 3],
      );
      await map(plain, [1, 2]);
      for await (const _ of mapStream(async (item: number) => plain(item), [1, 2, 3, 4]));
    });
    expect(stats.functions).toEqual([
      { name: "wrapped", ...one, started: 3, done: 3, expected: 3 },
      { name: "plain", ...one, started: 2, done: 2, expected: 2 },
      { name: "(anonymous)", ...one, started: 4, done: 4, expected: 4 },
    ]);
    expect(stats.total).toEqual({ ...one, started: 9, done: 9, expected: 9 });
  });

  test.each([
    ["an array", [1, 2, 3, 4], 4],
    ["a Set", new Set([1, 2, 3, 4]), 4],
    ["a Map", new Map([1, 2, 3, 4].map((n) => [n, n])), 4],
    ["a generator", [1, 2, 3, 4].values(), undefined],
  ])(
    "of %s it is known how many there will be, or that it is not",
    async (_, items: Iterable<unknown>, expected) => {
      const door = gate();
      const handle = new App({ name: "app", environment, concurrency: 1 }, () =>
        map(() => wait(door.promise), items),
      ).run();
      await settle();
      const percent = expected === undefined ? undefined : 0;
      expect(handle.stats().functions).toMatchObject([
        { name: "(anonymous)", started: 1, inFlight: 1, expected, percent },
        { name: "wait", started: 1, expected: 1 },
      ]);
      door.open();
      await handle;
      expect(handle.stats().functions).toMatchObject([
        { started: 4, expected: 4, percent: 100 },
        { started: 4, expected: 4, percent: 100 },
      ]);
    },
  );

  test("fan-outs of one function add up, and the total is unknown while that of one is", async () => {
    const doors = [gate(), gate()] as const;
    const handle = new App({ name: "app", environment }, () =>
      Promise.all([
        map(wait, [doors[0].promise, doors[0].promise]),
        map(wait, [doors[1].promise].values()),
        map(
          fn({ name: "other" }, () => 1),
          [1],
        ),
      ]),
    ).run();
    await settle();
    // The generator has been read to its end, but its fan-out goes on.
    expect(handle.stats().functions[0]).toMatchObject({ name: "wait", started: 3, expected: undefined });
    expect(handle.stats().total).toMatchObject({ started: 4, expected: undefined, percent: undefined });
    doors[1].open();
    await settle();
    expect(handle.stats().functions[0]).toMatchObject({ started: 3, done: 1, expected: 3, percent: 100 / 3 });
    expect(handle.stats().total).toMatchObject({ started: 4, done: 2, expected: 4, percent: 50 });
    doors[0].open();
    await handle;
  });

  test("items that a failed fan-out has not started are expected still, so that nothing looks complete", async () => {
    const stats = await statsOf(() =>
      map(
        (item: number) => {
          if (item === 2) throw new Error("2");
          return item;
        },
        [1, 2, 3, 4],
      ),
    );
    expect(stats.total).toEqual({ started: 2, done: 1, failed: 1, inFlight: 0, expected: 4, percent: 50 });
  });

  test("a source that grows is never behind what has started", async () => {
    const items = [1, 2];
    const stats = await statsOf(() =>
      map((item: number) => {
        if (items.length < 5) items.push(item);
      }, items),
    );
    expect(stats.total).toMatchObject({ started: 5, expected: 5, percent: 100 });
  });
});

describe("the limiters", () => {
  test("those that the environment provides are reported, with the rate of each dimension; others are not, nor made", async () => {
    const handle = new App({ name: "app", environment }, async () => {
      await useContext(LIMITER).acquire(2);
      await Promise.all([
        useContext(LIMITER).acquire(1),
        useContext(BUDGET).acquire({ requests: 1, tokens: 30 }),
      ]);
    }).run();
    await settle();
    expect(handle.stats().limiters).toEqual([
      {
        key: "limiter",
        queued: 1,
        granted: 1,
        aborted: 0,
        waitedMs: 0,
        pausedForMs: 0,
        dimensions: [
          {
            name: undefined,
            maxRowsPerSecond: 2,
            available: 0,
            capacity: 2,
            queuedTokens: 1,
            grantedTokens: 2,
          },
        ],
      },
      {
        key: "budget",
        queued: 0,
        granted: 1,
        aborted: 0,
        waitedMs: 0,
        pausedForMs: 0,
        dimensions: [
          {
            name: "requests",
            maxRowsPerSecond: 5,
            available: 4,
            capacity: 5,
            queuedTokens: 0,
            grantedTokens: 1,
          },
          {
            name: "tokens",
            maxRowsPerSecond: 100,
            available: 70,
            capacity: 100,
            queuedTokens: 0,
            grantedTokens: 30,
          },
        ],
      },
    ]);
    await clock.advance(500);
    await handle;
    expect(handle.stats().limiters[0]).toMatchObject({ queued: 0, granted: 2, waitedMs: 500 });
  });

  test("values that throw when one looks at them, or only look like a limiter, are none: the run goes on and ends", async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const strict = new Proxy(
      {},
      {
        get: () => {
          throw new Error("not connected");
        },
      },
    );
    const mock: unknown = new Proxy({}, { get: () => () => undefined });
    for (const value of [proxy, strict, mock, { limiterReport: 5 }, { limiterReport: () => ({}) }]) {
      const child = environment.child((builder) => {
        builder.provide(OTHER, value);
      });
      const handle = new App({ name: "app", environment: child }, () => 1).run();
      await settle();
      expect(handle.stats().limiters.map(({ key }) => key)).toEqual(["limiter", "budget"]);
      expect(await handle).toBe(1);
    }
  });

  test("those of a parent are reported too, a lazy one once it is made, and after the end as they stood then", async () => {
    const child = environment.child(() => undefined);
    const handle = new App({ name: "app", environment: child }, () => useContext(LAZY).acquire()).run();
    await handle;
    await environment.stop();
    expect(handle.stats().limiters.map(({ key, granted }) => [key, granted])).toEqual([
      ["limiter", 0],
      ["budget", 0],
      ["lazy", 1],
    ]);
  });
});

describe("watch", () => {
  test("a running snapshot at once and after each change, then one that is ready, with the result", async () => {
    const doors = [gate(), gate()] as const;
    const f = fn(async (place: number) => {
      await (doors[place] as Gate).promise;
    });
    const handle = new App({ name: "app", environment }, async () => {
      await f(0);
      await f(1);
      return "the result";
    }).run();
    const seen: unknown[][] = [];
    const watching = (async () => {
      for await (const snapshot of handle.watch()) {
        const { started, done } = snapshot.stats.total;
        seen.push([snapshot.state, started, done, "result" in snapshot ? snapshot.result : undefined]);
      }
    })();
    await settle();
    doors[0].open();
    await settle();
    doors[1].open();
    await watching;
    expect(seen.filter(([state]) => state === "ready")).toEqual([["ready", 2, 2, "the result"]]);
    expect(seen.at(-1)).toEqual(["ready", 2, 2, "the result"]);
    expect(seen.slice(0, -1)).toContainEqual(["running", 1, 0, undefined]);
    expect(seen.slice(0, -1)).toContainEqual(["running", 2, 1, undefined]);
  });

  test("the end of a source of unknown length is a change too", async () => {
    const door = gate();
    const source = gate();
    async function* items(): AsyncGenerator<number> {
      yield 1;
      await source.promise;
    }
    const main = (): unknown => Promise.all([map(() => undefined, items()), door.promise]);
    const handle = new App({ name: "app", environment }, main).run();
    const watcher = handle.watch();
    await settle();
    await watcher.next();
    const next = watcher.next();
    await settle();
    source.open();
    expect((await next).value).toMatchObject({
      state: "running",
      stats: { total: { done: 1, expected: 1 } },
    });
    await watcher.return();
    door.open();
    await handle;
  });

  test("a slow watcher misses what lies between and sees the end; several watch at a time", async () => {
    const f = fn(async () => {
      await settle();
    });
    const handle = new App({ name: "app", environment, concurrency: 1 }, () =>
      map(f, Array(50).fill(0)),
    ).run();
    const slow = handle.watch();
    const quick = handle.watch();
    const first = await slow.next();
    expect(first.value).toMatchObject({ state: "running" });
    let count = 0;
    for await (const _ of quick) count += 1;
    expect(count).toBeGreaterThan(50);
    const rest: unknown[] = [];
    for await (const snapshot of slow) rest.push(snapshot);
    expect(rest).toMatchObject([{ state: "ready", stats: { total: { done: 50 } } }]);
  });

  test("one that begins after the end gets the end alone", async () => {
    const handle = new App({ name: "app", environment }, () => 7).run();
    await handle;
    const seen: unknown[] = [];
    for await (const snapshot of handle.watch()) seen.push(snapshot);
    expect(seen).toMatchObject([{ state: "ready", result: 7 }]);
  });

  test("of a failed run it throws what the handle rejects with, and leaving it early does not abort", async () => {
    const door = gate();
    const error = new Error("main");
    const handle = new App({ name: "app", environment }, async () => {
      await door.promise;
      throw error;
    }).run();
    for await (const snapshot of handle.watch()) {
      expect(snapshot.state).toBe("running");
      break;
    }
    const watching = errorOf(
      (async () => {
        for await (const _ of handle.watch());
      })(),
    );
    door.open();
    expect(await watching).toBe(error);
    expect(await errorOf(handle)).toBe(error);
  });
});
