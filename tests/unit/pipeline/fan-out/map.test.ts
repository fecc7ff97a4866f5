import { describe, expect, jest, test } from "@jest/globals";
import { InvalidArgumentError } from "../../../../src/errors.js";
import { currentFrame, withContext, ContextKey, useContext } from "../../../../src/context/index.js";
import { map } from "../../../../src/pipeline/index.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { Counter, errorOf, gate, Load, settle, stateOf, userStorage } from "../helpers.js";

describe("results", () => {
  test("come in the order of the items, whatever the order in which they are ready", async () => {
    const gates = [gate(), gate(), gate()];
    const results = map(
      async (index: number) => {
        await gates[index]?.promise;
        return index * 10;
      },
      [0, 1, 2],
    );
    for (const index of [2, 0, 1]) {
      gates[index]?.open();
      await settle();
    }
    expect(await results).toEqual([0, 10, 20]);
  });

  test("of sync functions and of every kind of thenable are collected alike", async () => {
    const lazy = {
      then: (resolve: (value: string) => void) => {
        resolve("lazy");
      },
    };
    const returns = ["plain", Promise.resolve("promise"), lazy, undefined, null, new Error("a value")];
    expect(await map((index: number) => returns[index], returns.keys())).toEqual([
      "plain",
      "promise",
      "lazy",
      undefined,
      null,
      new Error("a value"),
    ]);
  });

  test("start in the call of map itself, in the order of the items", () => {
    const started: number[] = [];
    void map((item: number) => void started.push(item), [1, 2, 3]);
    expect(started).toEqual([1, 2, 3]);
  });

  test("f gets the item and nothing else", async () => {
    const f = jest.fn((...args: unknown[]) => args.length);
    expect(await map(f, ["a"])).toEqual([1]);
    expect(f.mock.contexts[0]).toBeUndefined();
  });

  test("a promise among the items is handed on as a promise", async () => {
    const promise = Promise.resolve(1);
    expect(await map((item: unknown) => [item === promise], [promise])).toEqual([[true]]);
  });

  test.each<[string, () => Iterable<number> | AsyncIterable<number>]>([
    ["an array", () => [1, 2, 3]],
    ["a set", () => new Set([1, 2, 3])],
    [
      "a generator",
      function* () {
        yield* [1, 2, 3];
      },
    ],
    [
      "an async generator",
      async function* () {
        await Promise.resolve();
        yield* [1, 2, 3];
      },
    ],
  ])("items may be %s", async (_name, items) => {
    expect(await map((item: number) => item * 2, items())).toEqual([2, 4, 6]);
  });

  test("an array of 100,000 sync results does not recurse", async () => {
    const items = Array.from({ length: 100_000 }, (_, index) => index);
    expect(await map((item: number) => item, items)).toEqual(items);
  });
});

describe("arguments", () => {
  test.each([0, -1, Number.NaN, 1.5, "2"])(
    "F97 concurrency %p rejects with the source untouched",
    async (bad) => {
      const source = new Counter();
      const f = jest.fn();
      const error = await errorOf(map(f, source, { concurrency: bad as number }));
      expect(error).toBeInstanceOf(InvalidArgumentError);
      expect(error).toMatchObject({ code: "ARGUMENT_INVALID", option: "concurrency", received: bad });
      expect(source.pulled).toBe(0);
      expect(f).not.toHaveBeenCalled();
    },
  );

  test.each([null, undefined, 7, {}])("F97 items %p rejects", async (bad) => {
    const error = await errorOf(map(() => 1, bad as number[]));
    expect(error).toMatchObject({ code: "ARGUMENT_INVALID", option: "items" });
  });

  test("F97 an empty source resolves to [] at once, and Infinity is a limit like any other", async () => {
    expect(await stateOf(map(() => 1, [], { concurrency: 1 }))).toEqual({ value: [] });
    expect(await map((item: number) => item, [1, 2], { concurrency: Infinity })).toEqual([1, 2]);
  });

  test("f that is no function, and options that are none, reject", async () => {
    const source = new Counter();
    expect(await errorOf(map("f" as never, source))).toMatchObject({ option: "f" });
    expect(await errorOf(map(() => 1, source, 3 as never))).toMatchObject({ option: "options" });
    expect(source.pulled).toBe(0);
  });

  test("a source that cannot be opened rejects with its own error", async () => {
    const boom = new Error("boom");
    const source = {
      [Symbol.iterator]: (): Iterator<number> => {
        throw boom;
      },
    };
    expect(await errorOf(map(() => 1, source))).toBe(boom);
  });
});

describe("concurrency", () => {
  test("F94 a slow item at the head keeps no slot idle", async () => {
    const clock = new ManualClock();
    const durations = [200, 500, 100, 300, 600, 60];
    const starts: number[] = [];
    const ends: number[] = [];
    const results = map(
      async (index: number) => {
        starts[index] = clock.now();
        await new Promise<void>((resolve) => clock.schedule(durations[index] ?? 0, resolve));
        ends[index] = clock.now();
        return index + 1;
      },
      durations.keys(),
      { concurrency: 3 },
    );
    await clock.advance(799);
    expect(await stateOf(results)).toBe("pending");
    await clock.advance(1);
    expect(await stateOf(results)).toEqual({ value: [1, 2, 3, 4, 5, 6] });
    expect(starts).toEqual([0, 0, 0, 100, 200, 400]);
    expect(ends).toEqual([200, 500, 100, 400, 800, 460]);
  });

  test("outside a run 1024 items are in flight unless said otherwise", async () => {
    const source = new Counter();
    let inFlight = 0;
    void map(() => {
      inFlight += 1;
      return new Promise(() => undefined);
    }, source);
    await settle();
    expect([inFlight, source.pulled]).toEqual([1024, 1024]);
  });

  test("a source is read only as far as items can start", async () => {
    const source = new Counter();
    const open = gate();
    void map(() => open.promise, source, { concurrency: 4 });
    await settle();
    expect(source.pulled).toBe(4);
  });

  test("an async source is asked for one item at a time", async () => {
    let asked = 0;
    let answered = 0;
    const load = new Load();
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          asked += 1;
          expect(asked - answered).toBe(1);
          await settle();
          answered += 1;
          return answered > 10 ? { done: true as const, value: undefined } : { done: false, value: answered };
        },
      }),
    };
    const results = await map(
      (item: number) =>
        load.during(async () => {
          await settle();
          return item;
        }),
      source,
      {
        concurrency: 3,
      },
    );
    expect(results).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(load.peak).toBeLessThanOrEqual(3);
  });

  test("of many items no more are pulled than are in flight", async () => {
    function* many(): Generator<number> {
      for (let item = 0; item < 100_000; item += 1) yield item;
    }
    let pulledAhead = 0;
    let done = 0;
    let pulled = 0;
    function* counted(): Generator<number> {
      for (const item of many()) {
        pulled += 1;
        pulledAhead = Math.max(pulledAhead, pulled - done);
        yield item;
      }
    }
    const results = await map(
      async (item: number) => {
        await Promise.resolve();
        done += 1;
        return item % 2;
      },
      counted(),
      {
        concurrency: 10,
      },
    );
    expect(results.length).toBe(100_000);
    expect(pulledAhead).toBeLessThanOrEqual(10);
  }, 60_000);

  test("an endless source with results that are there at once leaves the event loop its turn", async () => {
    let isOver = false;
    const timer = new Promise<void>((resolve) => setTimeout(resolve, 1));
    const stop = new Error("stop");
    const results = map(() => {
      if (isOver) throw stop;
    }, new Counter());
    await timer; // would never fire
    isOver = true;
    expect(await errorOf(results)).toBe(stop);
  });
});

describe("context", () => {
  const KEY = new ContextKey<string>("map/key");

  test("the source is stepped, and items run, in the context of the caller, also of storages of the user", async () => {
    const seen = new Set<string>();
    const look = (where: string): void => {
      seen.add(`${where} ${useContext(KEY)} ${String(userStorage.getStore())}`);
    };
    const gates = Array.from({ length: 6 }, () => gate());
    async function* source(): AsyncGenerator<number> {
      try {
        for (let index = 0; index < 6; index += 1) {
          look("source");
          await Promise.resolve();
          yield index;
        }
      } finally {
        look("source's end");
      }
    }
    const results = userStorage.run("user", () =>
      withContext(KEY, "caller", () =>
        map(
          async (index: number) => {
            look("item");
            await gates[index]?.promise;
            look("item");
            if (index === 5) throw new Error("last");
          },
          source(),
          { concurrency: 2 },
        ),
      ),
    );
    for (const each of gates) {
      withContext(KEY, "other", () => {
        userStorage.run("other", () => {
          each.open();
        });
      });
      await settle();
    }
    await expect(results).rejects.toThrow("last");
    expect([...seen].sort()).toEqual(["item caller user", "source caller user", "source's end caller user"]);
  });

  test("the source and f see no frame of an item, and each item has a frame of its own", async () => {
    const frames = new Set<unknown>();
    function* source(): Generator<number> {
      for (let index = 0; index < 3; index += 1) {
        expect(currentFrame()?.item).toBeUndefined();
        yield index;
      }
    }
    await map(async () => {
      const item = currentFrame()?.item;
      expect(item).toBeDefined();
      frames.add(item);
      await Promise.resolve();
      expect(currentFrame()?.item).toBe(item);
    }, source());
    expect(frames.size).toBe(3);
    expect(currentFrame()).toBeUndefined();
  });

  test("a lazy thenable is settled, and a generator stepped, in the frame of its item", async () => {
    const items = await withContext(KEY, "caller", () =>
      map(
        (index: number) =>
          index === 0
            ? {
                then: (resolve: (value: string) => void) => {
                  resolve(useContext(KEY));
                },
              }
            : (function* () {
                yield useContext(KEY);
              })(),
        [0, 1],
      ),
    );
    expect(items[0]).toBe("caller");
    expect([...(items[1] as Generator<string>)]).toEqual(["caller"]);
  });
});
