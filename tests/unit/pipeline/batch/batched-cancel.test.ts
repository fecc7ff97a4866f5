import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ContextKey, useContext } from "../../../../src/context/index.js";
import { Environment } from "../../../../src/lifespan/index.js";
import { App, batched, map, useSignal, withTimeout } from "../../../../src/pipeline/index.js";
import { RateLimiter } from "../../../../src/rate-limit/index.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { errorOf, gate, type Gate, settle, stateOf } from "../helpers.js";

const LIMIT = new ContextKey<RateLimiter>("batched-cancel/limit");
const NAME = new ContextKey<string>("batched-cancel/name");

let clock: ManualClock;
let limiter: RateLimiter;
let environment: Environment;
let batches: string[][];
let hold: Gate;
let closed: boolean;
beforeEach(async () => {
  clock = new ManualClock();
  limiter = new RateLimiter({ maxRowsPerSecond: 10, initialTokens: 0, clock });
  batches = [];
  hold = gate();
  closed = false;
  environment = await new Environment({
    name: "test",
    clock,
    drainTimeoutMs: 1_000,
    lifespan: function* (builder) {
      builder.provide(LIMIT, limiter);
      builder.provide(NAME, "test");
      yield;
      closed = true;
    },
  }).start();
});
afterEach(async () => {
  hold.open();
  await environment.stop();
  expect(clock.pending).toBe(0);
});

const held = async (items: string[]): Promise<string[]> => {
  batches.push(items);
  await hold.promise;
  return items.map((item) => item.toUpperCase());
};
const late = { code: "DEADLINE_EXCEEDED" };

describe("before the batch has gone", () => {
  test("who leaves rejects at once, and its item goes out of the batch", async () => {
    const call = batched({ maxBatchSize: 10, maxWaitMs: 50 }, held);
    hold.open();
    const handle = new App({ name: "app", environment }, () => call("a")).run();
    await settle();
    const other = environment.run(() => call("b"));
    const left = errorOf(handle);
    handle.abort("no more");
    expect(await left).toBe("no more");
    await clock.advance(50);
    expect(await other).toBe("B");
    expect(batches).toEqual([["b"]]);
  });

  test("a batch that all have left never goes, and leaves no timer; the next call begins a new one", async () => {
    const call = batched({ maxBatchSize: 10, maxWaitMs: 50 }, held);
    hold.open();
    const left = environment.run(() =>
      Promise.allSettled(["a", "b"].map((x) => withTimeout(20, () => call(x)))),
    );
    await clock.advance(20);
    expect(await left).toMatchObject([{ reason: late }, { reason: late }]);
    expect(clock.pending).toBe(0);
    const next = environment.run(() => call("c"));
    await clock.advance(49);
    expect(batches).toEqual([]);
    await clock.advance(1);
    expect(await next).toBe("C");
    expect(batches).toEqual([["c"]]);
  });

  test("all leave between the last item and the microtask in which it goes", async () => {
    const call = batched({ maxBatchSize: 2, maxWaitMs: 50, rateLimit: LIMIT }, held);
    const handle = new App({ name: "app", environment }, () => Promise.all(["a", "b"].map(call))).run();
    const left = errorOf(handle);
    handle.abort("no more");
    expect(await left).toBe("no more");
    await settle();
    expect([batches, limiter.stats().queued]).toEqual([[], 0]);
    await environment.stop();
    expect(closed).toBe(true);
  });

  test("a failed sibling of its map releases it", async () => {
    const call = batched({ maxBatchSize: 10, maxWaitMs: 50 }, held);
    const boom = new Error("boom");
    const released: unknown[] = [];
    const failed = environment.run(() =>
      map(
        async (item) => {
          if (item === "bad") throw boom;
          released.push(await errorOf(call(item)));
        },
        ["a", "bad"],
      ),
    );
    expect(await errorOf(failed)).toBe(boom);
    expect(released).toMatchObject([{ code: "RUN_ABORTED", cause: boom }]);
    expect(clock.pending).toBe(0);
  });

  test("a call in a scope that has ended rejects at once", async () => {
    const call = batched({ maxBatchSize: 1 }, held);
    const handle = new App({ name: "app", environment }, async () => {
      await hold.promise;
      return errorOf(call("a"));
    }).run();
    await settle();
    handle.abort("no more");
    hold.open();
    expect(await errorOf(handle)).toBe("no more");
    expect(batches).toEqual([]);
  });
});

describe("while the batch waits for its limits", () => {
  test("for tokens: who leaves is not in it; the cost stays", async () => {
    const rateLimit = { key: LIMIT, cost: (items: readonly string[]) => items.length };
    const call = batched({ maxBatchSize: 2, rateLimit }, held);
    hold.open();
    const results = environment.run(() =>
      Promise.allSettled([withTimeout(50, () => call("a")), withTimeout(500, () => call("b"))]),
    );
    await clock.advance(200);
    expect(await results).toMatchObject([{ reason: late }, { value: "B" }]);
    expect(batches).toEqual([["b"]]);
  });

  test("for tokens: when all have left it gives up, and has spent nothing", async () => {
    const call = batched({ maxBatchSize: 2, rateLimit: LIMIT }, held);
    const left = environment.run(() => errorOf(withTimeout(50, () => call("a"))));
    await settle();
    expect(limiter.stats().queued).toBe(1);
    await clock.advance(50);
    expect(await left).toMatchObject(late);
    expect(limiter.stats()).toMatchObject({ queued: 0, granted: 0 });
    expect([batches, clock.pending]).toEqual([[], 0]);
  });

  test("for a slot: the same", async () => {
    const call = batched({ maxBatchSize: 2, concurrency: 1 }, held);
    const first = environment.run(() => Promise.all(["a", "b"].map(call)));
    const left = environment.run(() => errorOf(withTimeout(50, () => call("c"))));
    const partly = environment.run(() => Promise.allSettled([withTimeout(50, () => call("d")), call("e")]));
    await clock.advance(50);
    expect(await left).toMatchObject(late);
    hold.open();
    expect(await first).toEqual(["A", "B"]);
    expect(await partly).toMatchObject([{ reason: late }, { value: "E" }]);
    expect(batches).toEqual([["a", "b"], ["e"]]);
  });
});

describe("after the batch has gone", () => {
  test("who leaves rejects at once, the others get their results, and the body goes on", async () => {
    let signal: AbortSignal | undefined;
    const call = batched({ maxBatchSize: 2 }, (items: string[]) => {
      signal = useSignal();
      return held(items);
    });
    const left = environment.run(() => errorOf(withTimeout(50, () => call("a"))));
    const other = environment.run(() => call("b"));
    await clock.advance(50);
    expect(await left).toMatchObject(late);
    expect(await stateOf(other)).toBe("pending");
    expect(signal?.aborted).toBe(false);
    hold.open();
    expect(await other).toBe("B");
  });

  test("a rejected result of one that has left is nobody's", async () => {
    const call = batched({ maxBatchSize: 1 }, async (items: string[]) => {
      await hold.promise;
      return items.map((item) => Promise.reject(new Error(item)));
    });
    const left = environment.run(() => errorOf(withTimeout(50, () => call("a"))));
    await clock.advance(50);
    expect(await left).toMatchObject(late);
    hold.open();
    await new Promise((resolve) => setTimeout(resolve, 1)); // an unhandled rejection would fail the test
  });

  test("a body whose callers have all left goes on in an open environment, and the stop waits for it", async () => {
    const seen: unknown[] = [];
    const call = batched({ maxBatchSize: 1 }, async (items: string[]) => {
      await hold.promise;
      await useContext(LIMIT).acquire();
      seen.push(useContext(NAME), useSignal().aborted, closed);
      return items;
    });
    const left = environment.run(() => errorOf(withTimeout(50, () => call("a"))));
    await clock.advance(50);
    await left;
    const stopped = environment.stop();
    await settle();
    expect(closed).toBe(false);
    hold.open();
    await clock.advance(100);
    await stopped;
    expect(seen).toEqual(["test", false, false]);
    expect(closed).toBe(true);
  });
});

describe("the stop of the environment", () => {
  test("lets the calls of items in flight come to their end, fan-outs in the body included", async () => {
    const begin = gate();
    const call = batched({ maxBatchSize: 2, maxWaitMs: 50 }, (items: string[]) =>
      map(async (item) => Promise.resolve(item + item), items, { concurrency: 1 }),
    );
    const handle = new App({ name: "app", environment }, () =>
      map(
        async (item) => {
          await begin.promise;
          return call(item);
        },
        ["a", "b", "c"],
      ),
    ).run();
    await settle();
    const stopped = environment.stop();
    await settle();
    begin.open();
    await clock.advance(50);
    expect(await handle).toEqual(["aa", "bb", "cc"]);
    await stopped;
  });

  test("at the end of the drain, callers reject with the reason and the signal of the body aborts", async () => {
    let signal: AbortSignal | undefined;
    const call = batched({ maxBatchSize: 1 }, (items: string[]) => {
      signal = useSignal();
      return held(items);
    });
    const waits = batched({ maxBatchSize: 10, maxWaitMs: 5_000 }, held);
    const errors = Promise.all([call, waits].map((one) => errorOf(environment.run(() => one("a")))));
    await settle();
    const stopped = environment.stop("night");
    await clock.advance(1_000);
    expect(await errors).toEqual(["night", "night"]);
    expect([signal?.aborted, signal?.reason, clock.pending]).toEqual([true, "night", 0]);
    hold.open();
    await stopped;
  });

  test("a stop() in the body would wait for itself", async () => {
    const call = batched({ maxBatchSize: 1 }, async () => [await errorOf(environment.stop())]);
    expect(await environment.run(() => call("a"))).toMatchObject({ code: "ENVIRONMENT_STATE" });
  });
});
