import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  ContextKey,
  currentFrame,
  tryUseContext,
  useContext,
  withContext,
} from "../../../../src/context/index.js";
import { defaultEnvironment, Environment } from "../../../../src/lifespan/index.js";
import { App, batched, map, useSignal, withTimeout } from "../../../../src/pipeline/index.js";
import { RateBudget, RateLimiter } from "../../../../src/rate-limit/index.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { errorOf, gate, type Gate, Load, settle, stateOf, thrownBy, userStorage } from "../helpers.js";

const LIMIT = new ContextKey<RateLimiter>("batched/limit");
const BUDGET = new ContextKey<RateBudget<"calls" | "items">>("batched/budget");
const NAME = new ContextKey<string>("batched/name");

let clock: ManualClock;
let limiter: RateLimiter;
let budget: RateBudget<"calls" | "items">;
let environment: Environment;
let batches: string[][];
beforeEach(async () => {
  clock = new ManualClock();
  limiter = new RateLimiter({ maxRowsPerSecond: 10, clock });
  budget = new RateBudget({ calls: { maxRowsPerSecond: 2 }, items: { maxRowsPerSecond: 10 } }, { clock });
  environment = await named("north");
  batches = [];
});
afterEach(async () => {
  expect(clock.pending).toBe(0);
  await environment.stop();
});

function named(name: string): Promise<Environment> {
  return new Environment({
    name,
    clock,
    lifespan: function* (builder) {
      builder.provide(NAME, name);
      builder.provide(LIMIT, limiter);
      builder.provide(BUDGET, budget);
      yield;
    },
  }).start();
}

const upper = async (items: string[]): Promise<string[]> => {
  batches.push(items);
  await Promise.resolve();
  return items.map((item) => item.toUpperCase());
};
const all = (call: (item: string) => Promise<string>, items: string): Promise<string[]> =>
  Promise.all(Array.from(items, (item) => call(item)));

describe("when a batch goes", () => {
  test("unset: with the calls of one turn, after a microtask", async () => {
    const call = batched({ maxBatchSize: 10 }, upper);
    const first = environment.run(() => all(call, "abc"));
    expect(batches).toEqual([]);
    await Promise.resolve();
    await Promise.resolve();
    expect(batches).toEqual([["a", "b", "c"]]);
    expect(await first).toEqual(["A", "B", "C"]);
    expect(await environment.run(() => call("d"))).toBe("D");
    expect(batches).toEqual([["a", "b", "c"], ["d"]]);
  });

  test("full ones at once, each with its items in the order of the calls", async () => {
    const call = batched({ maxBatchSize: 2, maxWaitMs: 50 }, upper);
    const results = environment.run(() => all(call, "abcde"));
    await settle();
    expect(batches).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
    expect(clock.pending).toBe(1);
    await clock.advance(50);
    expect(batches[2]).toEqual(["e"]);
    expect(await results).toEqual(["A", "B", "C", "D", "E"]);
  });

  test("maxWaitMs after its first item, with one timer", async () => {
    const call = batched({ maxBatchSize: 10, maxWaitMs: 50 }, upper);
    const first = environment.run(() => call("a"));
    await clock.advance(49);
    const second = environment.run(() => call("b"));
    expect([batches, clock.pending]).toEqual([[], 1]);
    await clock.advance(1);
    expect(batches).toEqual([["a", "b"]]);
    const third = environment.run(() => call("c"));
    await clock.advance(49);
    expect(batches).toHaveLength(1);
    await clock.advance(1);
    expect(batches).toEqual([["a", "b"], ["c"]]);
    expect(await Promise.all([first, second, third])).toEqual(["A", "B", "C"]);
  });

  test("one that is full takes its timer along", async () => {
    const call = batched({ maxBatchSize: 2, maxWaitMs: 50 }, upper);
    const results = environment.run(() => all(call, "ab"));
    expect(clock.pending).toBe(0);
    expect(await results).toEqual(["A", "B"]);
  });

  test("size 1 calls with each item alone", async () => {
    const call = batched({ maxBatchSize: 1, maxWaitMs: 50 }, upper);
    expect(await environment.run(() => all(call, "ab"))).toEqual(["A", "B"]);
    expect(batches).toEqual([["a"], ["b"]]);
  });

  test("outside every environment: on the clock of the system", async () => {
    const call = batched({ maxBatchSize: 10, maxWaitMs: 1 }, upper);
    expect(await all(call, "ab")).toEqual(["A", "B"]);
    expect(batches).toEqual([["a", "b"]]);
  });

  test("10,000 calls at a time, in batches of 100, under map", async () => {
    const call = batched({ maxBatchSize: 100 }, (items: number[]) => {
      batches.push(items.map(String));
      return items.map((item) => item * 2);
    });
    const items = [...Array(10_000).keys()];
    const app = new App({ name: "app", environment, concurrency: Infinity }, () => map(call, items));
    expect(await app.run()).toEqual(items.map((item) => item * 2));
    expect(batches).toHaveLength(100);
    expect(batches.flat()).toEqual(items.map(String));
  });
});

describe("contexts", () => {
  test("each caller goes on in its own", async () => {
    const call = batched({ maxBatchSize: 10, maxWaitMs: 5 }, upper);
    const one = (name: string): Promise<unknown[]> =>
      userStorage.run(name, () =>
        withContext(NAME, name, async () => [await call(name), userStorage.getStore(), useContext(NAME)]),
      );
    const results = environment.run(() => Promise.all(["ann", "bob"].map(one)));
    await clock.advance(5); // by code in no context
    expect(await results).toEqual([
      ["ANN", "ann", "ann"],
      ["BOB", "bob", "bob"],
    ]);
    expect(batches).toHaveLength(1);
  });

  test("each caller fails in its own", async () => {
    const call = batched({ maxBatchSize: 2 }, () => Promise.reject(new Error("boom")));
    const one = (name: string): Promise<unknown> =>
      withContext(NAME, name, () => call(name).catch(() => useContext(NAME)));
    expect(await environment.run(() => Promise.all(["ann", "bob"].map(one)))).toEqual(["ann", "bob"]);
  });

  test("the body sees the values of the environment, no override, no time limit and no item", async () => {
    const seen: unknown[] = [];
    const call = batched({ maxBatchSize: 2, maxWaitMs: 5 }, async (items: string[]) => {
      seen.push(useContext(NAME), currentFrame()?.scope?.deadline, userStorage.getStore());
      await useContext(LIMIT).acquire();
      seen.push(useSignal().aborted);
      return items;
    });
    const results = environment.run(() =>
      Promise.all([
        userStorage.run("first", () => withContext(NAME, "override", () => withTimeout(20, () => call("a")))),
        userStorage.run("second", () => call("b")),
      ]),
    );
    expect(await results).toEqual(["a", "b"]);
    expect(seen).toEqual(["north", undefined, "first", false]);
  });

  test("fan-outs in the body have slots of their own", async () => {
    const call = batched({ maxBatchSize: 10 }, (items: string[]) => map((item) => item + item, items));
    const app = new App({ name: "app", environment, concurrency: 3 }, () => map(call, Array.from("abcd")));
    expect(await app.run()).toEqual(["aa", "bb", "cc", "dd"]);
  });

  test("two environments do not mix, nor does what is outside", async () => {
    const south = await named("south");
    const call = batched({ maxBatchSize: 10, maxWaitMs: 5 }, (items: string[]) => {
      batches.push(items);
      return items.map(() => tryUseContext(NAME));
    });
    const results = ["a", "b"].flatMap((item) => [
      environment.run(() => call(`north ${item}`)),
      south.run(() => call(`south ${item}`)),
    ]);
    const outside = withContext(NAME, "override", () => call("outside"));
    await clock.advance(5);
    expect(await Promise.all(results)).toEqual(["north", "south", "north", "south"]);
    expect(await outside).toBeUndefined();
    expect(batches).toEqual([["north a", "north b"], ["south a", "south b"], ["outside"]]);
    await south.stop();
  });

  test("outside, it runs in the default environment while that runs", async () => {
    const call = batched({ maxBatchSize: 10 }, (items: string[]) =>
      items.map(() => currentFrame()?.source?.name),
    );
    expect(await call("a")).toBeUndefined();
    await defaultEnvironment.start();
    expect(await call("a")).toBe("default");
    await defaultEnvironment.stop();
  });

  test("code left over from an environment that has stopped gets an error", async () => {
    const call = batched({ maxBatchSize: 10, maxWaitMs: 5 }, upper);
    const other = await named("other");
    const late = gate();
    const results: Promise<string>[] = [];
    const leftOver = other.run(() => ({ call: late.promise.then(() => call("a")) }));
    results.push(leftOver.call);
    await other.stop();
    late.open();
    expect(await errorOf(leftOver.call)).toMatchObject({ code: "ENVIRONMENT_STATE" });
    expect(batches).toEqual([]);
  });
});

describe("errors", () => {
  const boom = new Error("boom");

  test.each([
    ["throws", () => { throw boom; }], // prettier-ignore
    ["rejects", () => Promise.reject(boom)],
  ])("a body that %s fails its callers with that error itself", async (_how, body) => {
    const call = batched({ maxBatchSize: 2 }, body as () => Promise<string[]>);
    const results = environment.run(() => Promise.allSettled(Array.from("abc", (item) => call(item))));
    expect((await results).map((result) => (result as PromiseRejectedResult).reason as unknown)).toEqual([
      boom,
      boom,
      boom,
    ]);
  });

  test.each([
    ["too few", ["A"], 1],
    ["too many", ["A", "B", "C"], 3],
    ["none", [], 0],
    ["text of the right length", "AB", undefined],
    ["undefined", undefined, undefined],
    ["null", null, undefined],
    ["something like an array", { length: 2, 0: "A", 1: "B" }, undefined],
  ])("results: %s", async (_what, results, received) => {
    const call = batched({ maxBatchSize: 2, name: "embed" }, () => results as string[]);
    const errors = await environment.run(() => Promise.all([errorOf(call("a")), errorOf(call("b"))]));
    expect(errors[0]).toBe(errors[1]);
    expect(errors[0]).toMatchObject({ code: "BATCH_INVALID", batched: "embed", expected: 2, received });
  });

  test("a result that is an error is a value; one that is a rejected promise fails its caller only", async () => {
    const call = batched({ maxBatchSize: 3 }, (items: string[]) =>
      items.map((item): unknown => (item === "a" ? boom : item === "b" ? Promise.reject(boom) : item)),
    );
    const results = environment.run(() => Promise.allSettled(Array.from("abc", (item) => call(item))));
    expect(await results).toEqual([
      { status: "fulfilled", value: boom },
      { status: "rejected", reason: boom },
      { status: "fulfilled", value: "c" },
    ]);
  });

  test("a body that changes its array, or gives it back, changes nothing for the callers", async () => {
    const call = batched({ maxBatchSize: 2 }, (items: string[]) => {
      const results = [...items];
      items.length = 0;
      return results;
    });
    expect(await environment.run(() => all(call, "ab"))).toEqual(["a", "b"]);
    const same = batched({ maxBatchSize: 2 }, (items: string[]) => items);
    expect(await environment.run(() => all(same, "ab"))).toEqual(["a", "b"]);
  });

  test("results that cannot be read, and a lazy thenable that throws, fail the callers", async () => {
    const results = new Proxy(["A"], {
      get: (target, name) => {
        if (name === "0") throw boom;
        return Reflect.get(target, name) as unknown;
      },
    });
    const lazy = {
      then: () => {
        throw boom;
      },
    };
    expect(await errorOf(batched({ maxBatchSize: 1 }, () => results)("a"))).toBe(boom);
    expect(await errorOf(batched({ maxBatchSize: 1 }, () => lazy as unknown as string[])("a"))).toBe(boom);
  });
});

describe("limits", () => {
  test("rateLimit: a key alone costs one token a batch", async () => {
    const call = batched({ maxBatchSize: 2, rateLimit: LIMIT }, upper);
    expect(await environment.run(() => all(call, "abcde"))).toHaveLength(5);
    expect(limiter.stats()).toMatchObject({ granted: 3, available: 7 });
  });

  test("rateLimit: a cost by item, settled by the results", async () => {
    const seen: unknown[] = [];
    const rateLimit = {
      key: LIMIT,
      cost: (items: readonly string[]) => items.length * 3,
      settle: (results: readonly string[], items: readonly string[]) => seen.push(results, items) + 1,
    };
    const call = batched({ maxBatchSize: 10, rateLimit }, upper);
    expect(await environment.run(() => all(call, "ab"))).toEqual(["A", "B"]);
    expect(limiter.stats().available).toBe(7);
    expect(seen).toEqual([
      ["A", "B"],
      ["a", "b"],
    ]);
  });

  test("rateLimit: a budget of calls and items", async () => {
    const times: number[] = [];
    const call = batched(
      {
        maxBatchSize: 4,
        rateLimit: { key: BUDGET, cost: (items: readonly string[]) => ({ calls: 1, items: items.length }) },
      },
      (items: string[]) => {
        times.push(clock.now());
        return items;
      },
    );
    const results = environment.run(() => all(call, "abcdefghijklmnop"));
    await clock.advance(1_000);
    expect((await results).join("")).toBe("abcdefghijklmnop");
    expect(times).toEqual([0, 0, 500, 1_000]);
  });

  test("rateLimit: the key is looked up where the body runs; a wrong cost and a failed settle reject", async () => {
    const other = new RateLimiter({ maxRowsPerSecond: 1, clock });
    const call = batched({ maxBatchSize: 2, rateLimit: LIMIT }, upper);
    await environment.run(() => withContext(LIMIT, other, () => call("a")));
    expect([limiter.stats().granted, other.stats().granted]).toEqual([1, 0]);
    expect(await errorOf(call("a"))).toMatchObject({ code: "ENVIRONMENT_MISSING" });
    const wrong = batched({ maxBatchSize: 2, rateLimit: { key: LIMIT, cost: () => 0.5 } }, upper);
    expect(await errorOf(environment.run(() => wrong("a")))).toMatchObject({ option: "cost" });
  });

  test("concurrency: batches at once, first come first served", async () => {
    const load = new Load();
    const gates: Gate<string[]>[] = [];
    const call = batched({ maxBatchSize: 2, concurrency: 2 }, (items: string[]) =>
      load.during(() => {
        batches.push(items);
        return gates[gates.push(gate()) - 1]!.promise; // eslint-disable-line @typescript-eslint/no-non-null-assertion
      }),
    );
    const results = environment.run(() => all(call, "abcdefgh"));
    await settle();
    expect(batches.map((items) => items.join(""))).toEqual(["ab", "cd"]);
    gates[1]?.open(["C", "D"]);
    await settle();
    expect(batches[2]).toEqual(["e", "f"]);
    gates[0]?.open(["A", "B"]);
    gates[2]?.open(["E", "F"]);
    await settle();
    gates[3]?.open(["G", "H"]);
    expect((await results).join("")).toBe("ABCDEFGH");
    expect(load.peak).toBe(2);
  });
});

describe("the function", () => {
  test("has the name and length of the body, or the name that is given", () => {
    const embed = batched({ maxBatchSize: 2 }, function embed(items: string[]) {
      return items;
    });
    expect([embed.name, embed.length]).toEqual(["embed", 1]);
    expect(batched({ maxBatchSize: 2, name: "other" }, upper).name).toBe("other");
  });

  test.each([
    ["maxBatchSize", {}],
    ...[0, -1, 1.5, Number.NaN, Infinity, "2"].map((value) => ["maxBatchSize", { maxBatchSize: value }]),
    ...[-1, Number.NaN, Infinity, "5", null].map((value) => [
      "maxWaitMs",
      { maxBatchSize: 1, maxWaitMs: value },
    ]),
    ["concurrency", { maxBatchSize: 1, concurrency: 0 }],
    ["rateLimit", { maxBatchSize: 1, rateLimit: 5 }],
    ["cost", { maxBatchSize: 1, rateLimit: { key: LIMIT } }],
    ["name", { maxBatchSize: 1, name: 5 }],
    ["options", undefined],
    ["options", null],
  ] as [string, object][])("bad options: %s of %p", (option, options) => {
    expect(thrownBy(() => batched(options as { maxBatchSize: number }, upper))).toMatchObject({
      code: "ARGUMENT_INVALID",
      option,
    });
  });

  test("no function", () => {
    expect(thrownBy(() => batched({ maxBatchSize: 1 }, undefined as unknown as typeof upper))).toMatchObject({
      option: "f",
    });
  });

  test("a lifespan may call it while it opens", async () => {
    const call = batched({ maxBatchSize: 2 }, (items: string[]) => items.map(() => tryUseContext(NAME)));
    let seen: unknown;
    const other = new Environment({
      lifespan: async function* (builder) {
        builder.provide(NAME, "opening");
        seen = await call("a");
        yield;
      },
    });
    await other.start();
    expect(seen).toBe("opening");
    await other.stop();
    expect(await stateOf(call("outside"))).toEqual({ value: undefined });
  });
});
