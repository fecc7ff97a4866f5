import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { ContextKey } from "../../../../src/context/index.js";
import { isTidegateError } from "../../../../src/errors.js";
import { Environment } from "../../../../src/lifespan/index.js";
import { batched, RetryWithSmallerBatch, withTimeout } from "../../../../src/pipeline/index.js";
import { RateLimiter } from "../../../../src/rate-limit/index.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { gate, Load, settle } from "../helpers.js";

const LIMIT = new ContextKey<RateLimiter>("batched-halving/limit");

let clock: ManualClock;
let limiter: RateLimiter;
let environment: Environment;
let batches: string[];
beforeEach(async () => {
  clock = new ManualClock();
  batches = [];
  limiter = new RateLimiter({ maxRowsPerSecond: 100, clock });
  environment = await new Environment({
    name: "test",
    clock,
    lifespan: function* (builder) {
      builder.provide(LIMIT, limiter);
      yield;
    },
  }).start();
});
afterEach(() => environment.stop());

const bad = new Error("x is no input");

/** Refuses batches in which one item is bad, without saying which. */
const upper = async (items: string[]): Promise<string[]> => {
  batches.push(items.join(""));
  await Promise.resolve();
  if (items.includes("x")) throw new RetryWithSmallerBatch("one of them is bad", { cause: bad });
  return items.map((item) => item.toUpperCase());
};

async function outcomes(call: (item: string) => Promise<string>, items: string): Promise<unknown[]> {
  const settled = await environment.run(() => Promise.allSettled(Array.from(items, (item) => call(item))));
  return settled.map((result) => (result.status === "fulfilled" ? result.value : result.reason) as unknown);
}

test("one bad input of 8 fails only its caller, with the cause, in 2 * log2(8) + 1 calls", async () => {
  const call = batched({ maxBatchSize: 8 }, upper);
  expect(await outcomes(call, "abcdexgh")).toEqual(["A", "B", "C", "D", "E", bad, "G", "H"]);
  expect(batches).toEqual(["abcdexgh", "abcd", "exgh", "ex", "gh", "e", "x"]);
});

test("odd numbers are halved too, down to single items; each is asked for alone once", async () => {
  const call = batched({ maxBatchSize: 7 }, upper);
  expect(await outcomes(call, "xxxxxxx")).toEqual(Array(7).fill(bad));
  expect(batches.filter((items) => items === "x")).toHaveLength(7);
  expect(batches).toHaveLength(13);
});

test("a single item that is refused without a cause fails with the error itself", async () => {
  const refusal = new RetryWithSmallerBatch();
  const call = batched({ maxBatchSize: 1 }, (): string[] => {
    throw refusal;
  });
  const [error] = await outcomes(call, "a");
  expect(error).toBe(refusal);
  expect(isTidegateError(error, "BATCH_TOO_LARGE")).toBe(true);
  expect(refusal.message).toMatch(/single item/);
});

test("another error in a half fails that half", async () => {
  const boom = new Error("boom");
  const call = batched({ maxBatchSize: 4 }, (items: string[]) => {
    if (items.length === 4) throw new RetryWithSmallerBatch();
    if (items.includes("c")) throw boom;
    return items;
  });
  expect(await outcomes(call, "abcd")).toEqual(["a", "b", boom, boom]);
});

test("each half takes a slot and a token of its own", async () => {
  const load = new Load();
  const call = batched({ maxBatchSize: 8, concurrency: 1, rateLimit: LIMIT }, (items: string[]) =>
    load.during(() => upper(items)),
  );
  expect(await outcomes(call, "abcdexgh")).toEqual(["A", "B", "C", "D", "E", bad, "G", "H"]);
  expect(load.peak).toBe(1);
  expect(limiter.stats().granted).toBe(7);
});

test("who leaves meanwhile is not in a half; a half of nobody is not called", async () => {
  const hold = gate();
  const call = batched({ maxBatchSize: 4, rateLimit: LIMIT }, async (items: string[]) => {
    batches.push(items.join(""));
    if (items.length < 4) return items;
    await hold.promise;
    throw new RetryWithSmallerBatch();
  });
  const ended = environment.run(() =>
    Promise.allSettled(
      Array.from("abcd", (item) => ("acd".includes(item) ? withTimeout(10, () => call(item)) : call(item))),
    ),
  );
  await clock.advance(10);
  hold.open();
  expect((await ended).map(({ status }) => status)).toEqual([
    "rejected",
    "fulfilled",
    "rejected",
    "rejected",
  ]);
  await settle();
  expect(batches).toEqual(["abcd", "b"]);
  expect(limiter.stats().granted).toBe(2);
});
