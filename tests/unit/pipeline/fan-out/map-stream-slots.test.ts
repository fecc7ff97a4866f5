import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Environment } from "../../../../src/lifespan/index.js";
import { map, mapStream } from "../../../../src/pipeline/index.js";
import { begin, Counter, gate, Load, range, settle, stateOf, tick } from "../helpers.js";

let environment: Environment;
beforeEach(async () => {
  environment = await new Environment({ name: "test" }).start();
});
afterEach(async () => {
  await environment.stop();
});

function runWith<R>(concurrency: number, main: () => R): Promise<Awaited<R>> {
  return begin(environment, main, concurrency).result();
}

async function* later(count: number): AsyncGenerator<number> {
  for (const index of range(count)) {
    await tick();
    yield index;
  }
}

test.each([1, 2, 3])(
  "streams in items of streams end under %p, and never is more in flight",
  async (limit) => {
    const load = new Load();
    const descend = async (depth: number): Promise<number> => {
      await load.during(tick);
      if (depth === 0) return 1;
      let sum = 1;
      for await (const below of mapStream(descend, [depth - 1, 0, 0])) {
        await load.during(tick);
        sum += below;
      }
      await load.during(tick);
      return sum;
    };
    expect(await runWith(limit, () => map(descend, [20, 20, 20]))).toEqual([61, 61, 61]);
    expect(load.peak).toBe(limit);
  },
);

test.each([1, 2])("map in a stream, and a stream in a map, end under %p", async (limit) => {
  const load = new Load();
  const child = async (item: number): Promise<number> => load.during(() => tick().then(() => item));
  const total = await runWith(limit, async () => {
    let sum = 0;
    const parents = mapStream(async (count: number) => (await map(child, range(count))).length, later(5));
    for await (const count of parents) sum += count;
    const streams = map(async (count: number) => {
      let results = 0;
      for await (const _ of mapStream(child, later(count), { ordered: false })) {
        results += 1;
        await load.during(tick);
      }
      return results;
    }, range(5));
    return sum + (await streams).reduce((all, one) => all + one, 0);
  });
  expect(total).toBe(20);
  expect(load.peak).toBe(limit);
});

test("a stream as the source of a stream, and a source that fans out, end under 1", async () => {
  const load = new Load();
  const f = async (item: number): Promise<number> => load.during(() => tick().then(() => item));
  async function* fanningOut(): AsyncGenerator<number> {
    for (let round = 0; round < 3; round += 1) yield* await map(f, range(3));
  }
  await runWith(1, async () => {
    for (const source of [() => mapStream(f, later(9)), () => mapStream(f, range(9)), fanningOut]) {
      // By main, and by items that work between the results.
      const counts = await map(async () => {
        let count = 0;
        for await (const _ of mapStream(f, source())) {
          count += 1;
          await load.during(tick);
        }
        return count;
      }, range(3));
      expect(counts).toEqual([9, 9, 9]);
      let count = 0;
      for await (const _ of mapStream(f, source())) count += 1;
      expect(count).toBe(9);
    }
  });
  expect(load.peak).toBe(1);
});

test("the source fans out ahead only on slots that the consumer does not hold", async () => {
  const load = new Load();
  async function* source(): AsyncGenerator<number> {
    for (;;) yield* await map((item: number) => load.during(() => tick().then(() => item)), [0]);
  }
  await runWith(1, () =>
    map(async () => {
      let taken = 0;
      for await (const _ of mapStream((item: number) => item, source(), { concurrency: 3 })) {
        await load.during(settle); // meanwhile the stream reads ahead
        if ((taken += 1) === 5) break;
      }
    }, [0]),
  );
  expect(load.peak).toBe(1);
});

test("a stream of main that items take results from gives the slots of those items up", async () => {
  const load = new Load();
  const f = async (item: number): Promise<number> => load.during(() => tick().then(() => item));
  async function* fanningOut(): AsyncGenerator<number> {
    yield* await map(f, range(6));
  }
  for (const source of [range(6), later(6), fanningOut()]) {
    const results = await runWith(1, () => {
      const stream = mapStream(f, source);
      return map(async () => {
        const mine: (number | undefined)[] = [];
        for (const _ of range(3)) {
          mine.push((await stream.next()).value as number);
          await load.during(tick);
        }
        return mine;
      }, range(2));
    });
    expect(results.flat().sort()).toEqual(range(6));
  }
  expect(load.peak).toBe(1);
});

test("a parent keeps its slot while an async source looks for the first item", async () => {
  const log: string[] = [];
  await runWith(1, () =>
    map(async (parent: number) => {
      log.push(`open ${String(parent)}`);
      const child = (item: number): unknown => log.push(`child ${String(item)} of ${String(parent)}`);
      for await (const _ of mapStream(child, later(1)));
    }, range(3)),
  );
  expect(log.slice(0, 2)).toEqual(["open 0", "child 0 of 0"]);
  expect(log).toHaveLength(6);
});

test("of a sync source children go before another parent", async () => {
  const log: string[] = [];
  await runWith(1, () =>
    map(async (parent: number) => {
      log.push(`open ${String(parent)}`);
      for await (const _ of mapStream(tick, range(4)));
      log.push(`close ${String(parent)}`);
    }, range(3)),
  );
  expect(log).toEqual(range(3).flatMap((parent) => [`open ${String(parent)}`, `close ${String(parent)}`]));
});

test("leaving gives the slot up until the items in flight have ended", async () => {
  const go = gate();
  async function* grandchildren(): AsyncGenerator<number> {
    yield 7;
    await go.promise; // meanwhile the slot is with the one who takes the results
  }
  const child = async (item: number): Promise<number> => {
    if (item === 1) await map(tick, grandchildren());
    return item;
  };
  const run = runWith(1, () =>
    map(async () => {
      const stream = mapStream(child, [0, 1], { concurrency: 2 });
      await stream.next();
      go.open();
      return stream.return();
    }, [0]),
  );
  expect(await stateOf(run)).toEqual({ value: [{ done: true, value: undefined }] });
});

describe("App.concurrency", () => {
  test("bounds the items in flight and, without concurrency, the results that wait", async () => {
    const source = new Counter();
    const load = new Load();
    await runWith(3, async () => {
      for await (const item of mapStream(
        (item: number) => load.during(() => tick().then(() => item)),
        source,
      )) {
        await settle();
        expect(source.pulled - item).toBeLessThanOrEqual(1 + 3 + 2 + 1);
        if (item === 20) break;
      }
    });
    expect(load.peak).toBe(3);
  });

  test("an item that ends gives its slot to others, though its result waits", async () => {
    await runWith(1, async () => {
      const stream = mapStream((item: number) => item, new Counter(), { concurrency: 5 });
      await stream.next();
      await settle();
      expect(await map((item: number) => item, [1, 2])).toEqual([1, 2]);
      await stream.return();
    });
  });

  test("an item in line for a slot when the stream is left is not started, and the slot stays with the run", async () => {
    const started: number[] = [];
    const hold = gate();
    await runWith(1, async () => {
      const other = map(() => hold.promise, [0]);
      const stream = mapStream((item: number) => started.push(item), [1, 2]);
      const first = stream.next();
      await settle();
      const left = hold.promise.then(() => stream.return()); // the reaction before this one has handed the slot over
      hold.open();
      await Promise.all([first, left, other]);
      expect(await map((item: number) => item, [1, 2])).toEqual([1, 2]);
    });
    expect(started).toEqual([]);
  });
});
