import { describe, expect, jest, test } from "@jest/globals";
import { ContextKey, currentFrame, useContext, withContext } from "../../../../src/context/index.js";
import { InvalidArgumentError } from "../../../../src/errors.js";
import { mapStream } from "../../../../src/pipeline/index.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { Counter, errorOf, gate, settle, stateOf, thrownBy, userStorage } from "../helpers.js";

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const results: T[] = [];
  for await (const result of stream) results.push(result);
  return results;
}

describe("results", () => {
  test.each([
    [undefined, [0, 1, 2]],
    [false, [2, 0, 1]],
  ])("with ordered %p come as they are due", async (ordered, due) => {
    const gates = [gate(), gate(), gate()];
    const stream = mapStream(
      async (index: number) => {
        await gates[index]?.promise;
        return index;
      },
      [0, 1, 2],
      { ordered },
    );
    const results: number[] = [];
    const over = (async () => {
      for await (const result of stream) results.push(result);
    })();
    await settle();
    for (const index of [2, 0, 1]) {
      gates[index]?.open();
      await settle();
      if (ordered === false) expect(results).toHaveLength(due.indexOf(index) + 1);
      else expect(results).toEqual(index === 2 ? [] : index === 0 ? [0] : [0, 1, 2]);
    }
    await over;
    expect(results).toEqual(due);
  });

  test.each([
    [true, [1, 2, 3, 4, 5, 6], [200, 500, 500, 500, 800, 800]],
    [false, [3, 1, 4, 6, 2, 5], [100, 200, 400, 460, 500, 800]],
  ])("F94 with ordered %p a slow item at the head keeps no slot idle", async (ordered, order, due) => {
    const clock = new ManualClock();
    const durations = [200, 500, 100, 300, 600, 60];
    const starts: number[] = [];
    const ends: number[] = [];
    const got: [number, number][] = [];
    const stream = mapStream(
      async (index: number) => {
        starts[index] = clock.now();
        await new Promise<void>((resolve) => clock.schedule(durations[index] ?? 0, resolve));
        ends[index] = clock.now();
        return index + 1;
      },
      durations.keys(),
      { concurrency: 3, ordered },
    );
    const over = (async () => {
      for await (const result of stream) got.push([result, clock.now()]);
    })();
    await settle();
    for (let step = 0; step < 80; step += 1) {
      await clock.advance(10);
      await settle();
    }
    await over;
    expect(starts).toEqual([0, 0, 0, 100, 200, 400]);
    expect(ends).toEqual([200, 500, 100, 400, 800, 460]);
    expect(got.map(([result]) => result)).toEqual(order);
    expect(got.map(([, at]) => at)).toEqual(due);
  });

  test("of sync functions and of every kind of thenable are given alike", async () => {
    const lazy = {
      then: (resolve: (value: string) => void) => {
        resolve("lazy");
      },
    };
    const returns = ["plain", Promise.resolve("promise"), lazy, undefined, null, new Error("a value")];
    expect(await collect(mapStream((index: number) => returns[index], returns.keys()))).toEqual([
      "plain",
      "promise",
      "lazy",
      undefined,
      null,
      new Error("a value"),
    ]);
  });

  test.each<[string, () => Iterable<number> | AsyncIterable<number>]>([
    ["an array", () => [1, 2, 3]],
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
    ["another stream", () => mapStream((item: number) => item - 1, [2, 3, 4])],
  ])("items may be %s", async (_name, items) => {
    for (const concurrency of [1, 2, 10]) {
      expect(await collect(mapStream((item: number) => item * 2, items(), { concurrency }))).toEqual([
        2, 4, 6,
      ]);
    }
  });

  test("calls of next() at once are answered in order, those beyond the end too", async () => {
    const gates = [gate(), gate(), gate()];
    const stream = mapStream((index: number) => gates[index]?.promise.then(() => index), [0, 1, 2]);
    const log: unknown[] = [];
    const steps = [0, 1, 2, 3, 4].map((call) => stream.next().then((step) => log.push([call, step.value])));
    await settle();
    for (const index of [1, 2, 0]) gates[index]?.open();
    await Promise.all(steps);
    expect(log).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
      [3, undefined],
      [4, undefined],
    ]);
  });

  test("a stream is its own iterator, and after its end it stays done", async () => {
    const stream = mapStream((item: number) => item, [1]);
    expect(stream[Symbol.asyncIterator]()).toBe(stream);
    expect(await collect(stream)).toEqual([1]);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(await collect(stream)).toEqual([]);
  });
});

describe("arguments", () => {
  test.each([0, -1, Number.NaN, 1.5, "2"])(
    "F97 concurrency %p is thrown with the source untouched",
    async (bad) => {
      const source = new Counter();
      const error = thrownBy(() => mapStream(() => 1, source, { concurrency: bad as number }));
      expect(error).toBeInstanceOf(InvalidArgumentError);
      expect(error).toMatchObject({ code: "ARGUMENT_INVALID", option: "concurrency", received: bad });
      await settle();
      expect(source.pulled).toBe(0);
    },
  );

  test("F97 so are items, f, options and ordered that cannot be", () => {
    expect(thrownBy(() => mapStream(() => 1, null as never))).toMatchObject({ option: "items" });
    expect(thrownBy(() => mapStream("f" as never, []))).toMatchObject({ option: "f" });
    expect(thrownBy(() => mapStream(() => 1, [], 3 as never))).toMatchObject({ option: "options" });
    const ordered = "no" as never;
    expect(thrownBy(() => mapStream(() => 1, [], { ordered }))).toMatchObject({ option: "ordered" });
  });

  test("F97 an empty source is done at once, and Infinity is a limit like any other", async () => {
    expect(await stateOf(mapStream(() => 1, []).next())).toEqual({ value: { done: true, value: undefined } });
    expect(await collect(mapStream((item: number) => item, [1, 2], { concurrency: Infinity }))).toEqual([
      1, 2,
    ]);
  });

  test("a source that cannot be opened rejects with its own error", async () => {
    const boom = new Error("boom");
    const source = {
      [Symbol.iterator]: (): Iterator<number> => {
        throw boom;
      },
    };
    const stream = mapStream(() => 1, source);
    expect(await errorOf(stream.next())).toBe(boom);
    expect(await stream.next()).toMatchObject({ done: true });
  });
});

describe("back-pressure", () => {
  test("nothing is touched before the first next()", async () => {
    const open = jest.fn(() => [1][Symbol.iterator]());
    const f = jest.fn();
    const stream = mapStream(f, { [Symbol.iterator]: open });
    await settle();
    expect([open.mock.calls.length, f.mock.calls.length]).toEqual([0, 0]);
    await stream.next();
    expect([open.mock.calls.length, f.mock.calls.length]).toEqual([1, 1]);
  });

  test("F90 a slow consumer holds an endless source up", async () => {
    const clock = new ManualClock();
    let pulled = 0;
    let ended = 0;
    async function* source(): AsyncGenerator<number> {
      try {
        for (;;) {
          await Promise.resolve();
          yield pulled++;
        }
      } finally {
        ended += 1;
      }
    }
    let taken = 0;
    const over = (async () => {
      for await (const result of mapStream(async (item: number) => item, source(), { concurrency: 4 })) {
        expect(result).toBe(taken);
        taken += 1;
        await new Promise<void>((resolve) => clock.schedule(100, resolve));
        expect(pulled - taken).toBeLessThanOrEqual(4 + 3);
        if (taken === 10) break;
      }
    })();
    await settle();
    for (let step = 0; step < 10; step += 1) {
      expect(ended).toBe(0);
      await clock.advance(100);
      await settle();
    }
    await over;
    await settle();
    expect(ended).toBe(1);
    expect(pulled).toBeLessThanOrEqual(10 + 4 + 3);
  });

  test.each([true, false])(
    "no item starts while as many results wait as may be in flight (ordered %p)",
    async (ordered) => {
      const source = new Counter();
      const stream = mapStream((item: number) => item, source, { concurrency: 3, ordered });
      await stream.next();
      await settle();
      expect(source.pulled).toBe(1 + 3);
      await stream.next();
      await settle();
      expect(source.pulled).toBe(2 + 3);
    },
  );

  test("2 * concurrency - 1 items are pulled at most whose result was not taken", async () => {
    const source = new Counter();
    const gates = Array.from({ length: 20 }, () => gate());
    const stream = mapStream((index: number) => gates[index]?.promise, source, { concurrency: 4 });
    void stream.next();
    await settle();
    expect(source.pulled).toBe(4);
    for (let index = 1; index < 20; index += 1) {
      gates[index]?.open();
      await settle();
      expect(source.pulled).toBe(Math.min(4 + index, 7));
    }
  });

  test("without concurrency, or with Infinity, 1024 results wait at most", async () => {
    for (const concurrency of [undefined, Infinity]) {
      const source = new Counter();
      const stream = mapStream((item: number) => item, source, { concurrency });
      await stream.next();
      // It rests for a turn of the event loop now and then.
      while (source.pulled < 1 + 1024) await new Promise(setImmediate);
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
      expect(source.pulled).toBe(1 + 1024);
    }
  });

  test("100,000 items go through with few of them in memory", async () => {
    let alive = 0;
    let most = 0;
    function* source(): Generator<{ readonly index: number }> {
      for (let index = 0; index < 100_000; index += 1) {
        alive += 1;
        most = Math.max(most, alive);
        yield { index };
      }
    }
    const f = async ({ index }: { readonly index: number }): Promise<number> => {
      if (index % 7 === 0) await Promise.resolve();
      return index;
    };
    let inOrder = 0;
    for await (const index of mapStream(f, source(), { concurrency: 10 })) {
      if (index === inOrder) inOrder += 1;
      alive -= 1;
    }
    expect(inOrder).toBe(100_000);
    expect(most).toBeLessThanOrEqual(20);
  }, 60_000);

  test("results that are there at once leave the event loop its turn", async () => {
    let isOver = false;
    setTimeout(() => (isOver = true), 1);
    let taken = 0;
    for await (const result of mapStream((item: number) => item, new Counter())) {
      taken = result; // a loop without this rest would never end
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- set by the timer
      if (isOver) break;
    }
    expect(taken).toBeGreaterThan(0);
  });
});

describe("context", () => {
  const KEY = new ContextKey<string>("stream/key");

  test("the source and the items have that of the code that made the stream, the consumer its own", async () => {
    const seen = new Set<string>();
    const look = (where: string): void => {
      seen.add(`${where} ${useContext(KEY)} ${String(userStorage.getStore())}`);
    };
    async function* source(): AsyncGenerator<number> {
      try {
        for (let index = 0; ; index += 1) {
          look("source");
          await Promise.resolve();
          yield index;
        }
      } finally {
        look("source's end");
      }
    }
    const inBoth = <R>(name: string, body: () => R): R =>
      userStorage.run(name, () => withContext(KEY, name, body));
    const stream = inBoth("maker", () =>
      mapStream(
        async (index: number) => {
          look("item");
          await Promise.resolve();
          look("item");
          return index;
        },
        source(),
        { concurrency: 2 },
      ),
    );
    await inBoth("consumer", async () => {
      for await (const index of stream) {
        look("consumer");
        if (index === 5) break;
      }
      look("consumer");
    });
    await settle();
    expect([...seen].sort()).toEqual([
      "consumer consumer consumer",
      "item maker maker",
      "source maker maker",
      "source's end maker maker",
    ]);
  });

  test("each item has a frame of its own, and the consumer outside has none", async () => {
    const items = new Set<unknown>();
    const f = async (): Promise<void> => {
      items.add(currentFrame()?.item);
      await Promise.resolve();
    };
    for await (const _ of mapStream(f, [1, 2, 3])) expect(currentFrame()).toBeUndefined();
    expect(items.size).toBe(3);
  });
});
