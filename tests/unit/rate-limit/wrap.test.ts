import { expect, test } from "@jest/globals";
import { Trace } from "./support/trace.js";
import { setUp } from "./support/set-up.js";

test("a wrapped function takes a token before each call", async () => {
  const { clock, limiter, trace } = setUp(1, 1);
  const calls: string[] = [];
  const call = limiter.wrap((name: string) => {
    calls.push(name);
    return Promise.resolve(name.length);
  });
  trace.follow("first", call("first"));
  const second = call("second");
  trace.follow("second", second);
  await clock.advance(999);
  expect(calls).toEqual(["first"]);
  await clock.advance(1);
  expect(calls).toEqual(["first", "second"]);
  expect(await second).toBe(6);
  expect(trace.events).toEqual(["first t0", "second t1000"]);
});

test("passes on this, the arguments, the result and the error", async () => {
  const { limiter } = setUp(10, 10);
  const counter = {
    total: 5,
    add: limiter.wrap(async function (this: { total: number }, a: number, b: number) {
      await Promise.resolve();
      this.total += a + b;
      return this.total;
    }),
  };
  expect(await counter.add(1, 2)).toBe(8);
  const failure = new Error("no");
  await expect(limiter.wrap(() => Promise.reject(failure))()).rejects.toBe(failure);
  expect(limiter.stats().grantedTokens).toBe(2);
});

test("keeps name and length", () => {
  const { limiter } = setUp(10, 10);
  const wrapped = limiter.wrap(async function fetchPage(_url: string, _depth: number) {
    await Promise.resolve();
  });
  expect([wrapped.name, wrapped.length]).toEqual(["fetchPage", 2]);
});

test("the cost comes from the arguments", async () => {
  const { clock, limiter } = setUp(10, 10);
  const send = limiter.wrap(
    (rows: string[], _urgent: boolean) => Promise.resolve(rows.length),
    (rows, urgent) => (urgent ? 0 : rows.length),
  );
  await send(["a", "b", "c"], false);
  await send(["a", "b", "c"], true);
  expect(limiter.stats()).toMatchObject({ grantedTokens: 3, granted: 1 });
  const trace = new Trace(clock);
  trace.follow("large", send(Array.from({ length: 12 }, String), false));
  await clock.advance(500);
  expect(trace.events).toEqual(["large t500"]);
});

test("a cost that throws or is no count rejects the call, and the function is not called", async () => {
  const { limiter } = setUp(10, 10);
  let called = 0;
  const count = (): Promise<number> => Promise.resolve((called += 1));
  const failure = new Error("no cost");
  const throwing = limiter.wrap(count, () => {
    throw failure;
  });
  await expect(throwing()).rejects.toBe(failure);
  for (const cost of [0.5, NaN, undefined]) {
    await expect(limiter.wrap(count, () => cost as number)()).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
      option: "cost",
      received: cost,
    });
  }
  expect(called).toBe(0);
  expect(limiter.stats().available).toBe(10);
});

test("a call of a closed limiter rejects, and the function is not called", async () => {
  const { limiter } = setUp(10, 10);
  let called = 0;
  const count = limiter.wrap(() => Promise.resolve((called += 1)));
  limiter.close();
  await expect(count()).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
  expect(called).toBe(0);
});

test("a failure gives no token back: it was a call", async () => {
  const { limiter } = setUp(10, 10);
  await expect(limiter.wrap(() => Promise.reject(new Error("500")))()).rejects.toThrow("500");
  expect(limiter.stats().available).toBe(9);
});
