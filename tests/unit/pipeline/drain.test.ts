import { expect, jest, test } from "@jest/globals";
import { currentRun, Environment, type Run } from "../../../src/lifespan/index.js";
import { App, fn, map } from "../../../src/pipeline/index.js";
import { Counter, errorOf, gate, type Gate, settle, stateOf } from "./helpers.js";

const reason = new Error("going down");

interface Stopped<R> {
  readonly run: Promise<Awaited<R>>;
  readonly stopped: Promise<void>;
}

/** Runs main, then tells the environment to stop. */
async function stopDuring<R>(main: () => R, concurrency = 10): Promise<Stopped<R>> {
  const environment = await new Environment({ name: "test", drainTimeoutMs: Infinity }).start();
  const run = new App({ name: "app", environment, concurrency }, main).run().result();
  run.catch(() => undefined);
  await settle();
  const stopped = environment.stop(reason);
  await settle();
  return { run, stopped };
}

function gates(): { all: Gate[]; wait: () => Promise<void> } {
  const all: Gate[] = [];
  return {
    all,
    wait: () => {
      const mine = gate();
      all.push(mine);
      return mine.promise;
    },
  };
}

test("a map of main starts no further items, ends those in flight, then rejects with the reason of the stop", async () => {
  const { all, wait } = gates();
  const source = new Counter();
  const { run, stopped } = await stopDuring(() => map(wait, source, { concurrency: 2 }));
  all[0]?.open();
  expect(await stateOf(run)).toBe("pending");
  all[1]?.open();
  expect(await errorOf(run)).toBe(reason);
  expect(all).toHaveLength(2);
  expect(source.closed).toBe(1);
  await stopped;
});

test("a call with a concurrency of its own is no item: a map within it, called by main, is one of main", async () => {
  const { all, wait } = gates();
  const call = fn({ concurrency: 1 }, () => map(wait, new Counter(), { concurrency: 2 }));
  const { run, stopped } = await stopDuring(() => call());
  for (const each of all) each.open();
  expect(await errorOf(run)).toBe(reason);
  expect(all).toHaveLength(2);
  await stopped;
});

test("a drain that is over aborts the map", async () => {
  const { all, wait } = gates();
  const environment = await new Environment({ name: "test", drainTimeoutMs: 0 }).start();
  const run = new App({ name: "app", environment }, () =>
    errorOf(map(wait, new Counter(), { concurrency: 2 })),
  ).run();
  const over = errorOf(run);
  await settle();
  const stopped = environment.stop(reason);
  for (const each of all) each.open();
  expect(await over).toBe(reason);
  await stopped;
});

test("a map that is over has left nothing in the run", async () => {
  const environment = await new Environment({ name: "test" }).start();
  await environment.run(async () => {
    const run = currentRun() as Run;
    const takenBack = jest.fn();
    const onStopRequest = jest.spyOn(run, "onStopRequest").mockReturnValue(takenBack);
    await map((item: number) => item, [1]);
    await errorOf(map(() => Promise.reject(new Error()), [1]));
    expect([onStopRequest.mock.calls.length, takenBack.mock.calls.length]).toEqual([2, 2]);
  });
  await environment.stop();
});

test("it rejects with the first failure among those in flight", async () => {
  const { all, wait } = gates();
  const { run, stopped } = await stopDuring(() => map(wait, new Counter(), { concurrency: 2 }));
  const boom = new Error("boom");
  all[1]?.fail(boom);
  all[0]?.open();
  expect(await errorOf(run)).toBe(boom);
  await stopped;
});

test.each<[string, () => Iterable<number> | AsyncIterable<number>]>([
  ["an array", () => [1, 2, 3]],
  [
    "an async generator",
    async function* () {
      await Promise.resolve();
      yield* [1, 2, 3];
    },
  ],
])("it gives its results when all items of %s had started", async (_name, items) => {
  for (const concurrency of [3, 10]) {
    const { all, wait } = gates();
    const { run, stopped } = await stopDuring(() =>
      map((item: number) => wait().then(() => item), items(), { concurrency }),
    );
    for (const each of all) each.open();
    expect(await run).toEqual([1, 2, 3]);
    await stopped;
  }
});

test("an item that was pulled and waits for a slot is not started", async () => {
  const { all, wait } = gates();
  const { run, stopped } = await stopDuring(() => map(wait, [1, 2, 3]), 2);
  for (const each of all) each.open();
  expect(await errorOf(run)).toBe(reason);
  expect(all).toHaveLength(2);
  await stopped;
});

test("a source that has nothing to give does not hold the drain up", async () => {
  const source = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
  const { run, stopped } = await stopDuring(() => map((item: number) => item, source));
  expect(await stateOf(run)).toEqual({ error: reason });
  await stopped;
});

test("fan-outs of items in flight go on", async () => {
  const { all, wait } = gates();
  const { run, stopped } = await stopDuring(() =>
    map(async () => {
      await map(wait, [1, 2, 3], { concurrency: 1 });
      return map((item: number) => item, [4, 5]);
    }, [0]),
  );
  for (const index of [0, 1, 2]) {
    all[index]?.open();
    await settle();
  }
  expect(await run).toEqual([[4, 5]]);
  await stopped;
});

test("a map that main begins afterwards starts nothing, unless there is nothing to start", async () => {
  const begin = gate();
  let started = 0;
  const { run, stopped } = await stopDuring(async () => {
    await begin.promise;
    return [await map(() => 1, []), await errorOf(map(() => (started += 1), [1, 2]))];
  });
  begin.open();
  expect(await run).toEqual([[], reason]);
  expect(started).toBe(0);
  await stopped;
});
