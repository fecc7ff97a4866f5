import { afterEach, beforeEach, describe, expect, test, jest } from "@jest/globals";
import { ContextKey, useContext, withContext } from "../../../../src/context/index.js";
import { Environment } from "../../../../src/lifespan/index.js";
import { App, fn, map, withTimeout } from "../../../../src/pipeline/index.js";
import { type Limiter, RateLimiter } from "../../../../src/rate-limit/index.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { errorOf, gate, type Gate, Load, range, settle, stateOf, userStorage } from "../helpers.js";

const LIMIT = new ContextKey<RateLimiter>("fn-limits/limit");
const NAME = new ContextKey<string>("fn-limits/name", { defaultValue: () => "nobody" });

let clock: ManualClock;
let limiter: RateLimiter;
let environment: Environment;
beforeEach(async () => {
  clock = new ManualClock();
  limiter = new RateLimiter({ maxRowsPerSecond: 10, burstWindowSecs: 0.2, clock });
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

describe("rateLimit", () => {
  test("each call takes a token first, in the order of the calls", async () => {
    const log: string[] = [];
    const call = fn({ rateLimit: LIMIT }, async (name: string) => {
      await Promise.resolve();
      log.push(`${name} ${String(clock.now())}`);
    });
    const all = environment.run(() => Promise.all(["a", "b", "c", "d"].map((name) => call(name))));
    await clock.advance(1_000);
    await all;
    expect(log).toEqual(["a 0", "b 0", "c 100", "d 200"]);
  });

  test("F32 calls within calls draw from one budget without deadlock", async () => {
    const outer: number[] = [];
    const inner: number[] = [];
    const innerCall = fn({ rateLimit: LIMIT }, async () => {
      await Promise.resolve(inner.push(clock.now()));
    });
    const outerCall = fn({ rateLimit: LIMIT }, async () => {
      outer.push(clock.now());
      await innerCall();
    });
    const all = environment.run(() => Promise.all([outerCall(), outerCall(), outerCall()]));
    await clock.advance(400);
    await all;
    expect([outer, inner]).toEqual([
      [0, 0, 100],
      [200, 300, 400],
    ]);
  });

  test("F32 a map() nested in a mapper, each with a concurrency of its own, completes", async () => {
    const run = environment.run(() =>
      map(() => map(() => useContext(LIMIT).acquire(), range(4), { concurrency: 2 }), range(4), {
        concurrency: 2,
      }),
    );
    await clock.advance(2_000);
    expect(await run).toHaveLength(4);
  });

  test("the cost is that of the call; settle gives the rest back or charges what is missing", async () => {
    const seen: unknown[][] = [];
    const call = fn(
      {
        rateLimit: {
          key: LIMIT,
          cost: (item: string) => item.length,
          settle: (result: number, item: string) => {
            seen.push([result, item]);
            return result;
          },
        },
      },
      async (_item: string, actual: number) => Promise.resolve(actual),
    );
    const level = (): number => limiter.stats().available;
    await environment.run(async () => {
      await call("xx", 1);
      expect(level()).toBe(1);
      await call("x", 3);
      expect(level()).toBe(-2);
      await clock.advance(400);
      await call("xx", 2);
      expect(level()).toBe(0);
    });
    expect(seen).toEqual([
      [1, "xx"],
      [3, "x"],
      [2, "xx"],
    ]);
  });

  test("after a failed call the estimate stands", async () => {
    const boom = new Error("boom");
    const call = fn({ rateLimit: { key: LIMIT, cost: () => 2, settle: () => 0 } }, () =>
      Promise.reject(boom),
    );
    expect(await errorOf(environment.run(() => call()))).toBe(boom);
    expect(limiter.stats().available).toBe(0);
  });

  test("a result of cost that is no count is an error", async () => {
    const cost = fn({ rateLimit: { key: LIMIT, cost: () => Number.NaN } }, async () => Promise.resolve());
    expect(await errorOf(environment.run(() => cost()))).toMatchObject({ code: "ARGUMENT_INVALID" });
  });

  test.each<[string, () => number | undefined, string]>([
    ["gives no count", () => -1, '"settle" must be an integer from 0 up; got -1.'],
    [
      "throws",
      () => {
        throw new Error("no usage");
      },
      "Error: no usage",
    ],
  ])(
    "the result of a call whose settle %s is there all the same, and a warning",
    async (_, settle, problem) => {
      const warned = jest.spyOn(process, "emitWarning").mockReturnValue(undefined);
      const rateLimit = { key: LIMIT, cost: () => 2, settle };
      const call = fn({ name: "ask", rateLimit }, () => Promise.resolve("the answer"));
      expect(await environment.run(() => call())).toBe("the answer");
      expect(limiter.stats().available).toBe(0);
      expect(warned.mock.calls).toEqual([
        [
          expect.stringMatching(/^The settle of "ask" failed, so the estimate stands: .*/),
          { type: "TidegateWarning", code: "TIDEGATE_SETTLE_FAILED" },
        ],
      ]);
      expect(warned.mock.calls[0]?.[0]).toContain(problem);
      warned.mockRestore();
    },
  );

  test("a settle that gives undefined leaves the estimate, without a warning", async () => {
    const warned = jest.spyOn(process, "emitWarning").mockReturnValue(undefined);
    const rateLimit = { key: LIMIT, cost: () => 2, settle: () => undefined };
    await environment.run(() => fn({ rateLimit }, () => Promise.resolve())());
    expect(limiter.stats().available).toBe(0);
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  test("settle with a limiter that cannot correct is an error, before anything is spent or called", async () => {
    const PLAIN = new ContextKey<Limiter>("fn-limits/plain");
    let acquired = 0;
    let called = 0;
    const plain: Limiter = {
      acquire: async () => {
        acquired += 1;
        await Promise.resolve();
      },
    };
    const rateLimit = { key: PLAIN as unknown as typeof LIMIT, cost: () => 1, settle: () => 1 };
    const call = fn({ rateLimit }, async () => Promise.resolve((called += 1)));
    const error = await errorOf(environment.run(() => withContext(PLAIN, plain, () => call())));
    expect(error).toMatchObject({ code: "ARGUMENT_INVALID", option: "rateLimit.key" });
    expect([acquired, called]).toEqual([0, 0]);
    const without = fn({ rateLimit: PLAIN }, async () => Promise.resolve((called += 1)));
    expect(await environment.run(() => withContext(PLAIN, plain, () => without()))).toBe(1);
    expect([acquired, called]).toEqual([1, 1]);
  });

  test("a key that nobody provides rejects; what f throws at once rejects too", async () => {
    const MISSING = new ContextKey<Limiter>("fn-limits/missing");
    const call = fn({ rateLimit: MISSING }, async () => Promise.resolve());
    expect(await errorOf(environment.run(() => call()))).toMatchObject({ code: "CONTEXT_MISSING" });
    expect(await errorOf(call())).toMatchObject({ code: "ENVIRONMENT_MISSING" });
    const boom = new Error("boom");
    const thrower = (): Promise<void> => {
      throw boom;
    };
    expect(await errorOf(environment.run(() => fn({ rateLimit: LIMIT }, thrower)()))).toBe(boom);
    expect(await errorOf(fn({ concurrency: 1 }, thrower)())).toBe(boom);
  });

  test("waiting calls of an aborted run are released", async () => {
    let called = 0;
    const call = fn({ rateLimit: LIMIT, concurrency: 5 }, async () => Promise.resolve((called += 1)));
    const handle = new App({ name: "app", environment }, () =>
      Promise.allSettled(range(10).map(() => call())),
    ).run();
    const over = errorOf(handle);
    await settle();
    expect(called).toBe(2);
    handle.abort("stop");
    expect(await over).toBe("stop");
    expect(called).toBe(2);
    expect(clock.pending).toBe(0);
  });
});

describe("concurrency", () => {
  test("bounds the calls of all callers in the process, first come first served", async () => {
    const load = new Load();
    const gates: Gate[] = [];
    const order: number[] = [];
    const call = fn({ concurrency: 2 }, (index: number) =>
      load.during(() => {
        order.push(index);
        return (gates[index] = gate()).promise;
      }),
    );
    const all = [call(0), environment.run(() => call(1)), call(2), environment.run(() => call(3))];
    await settle();
    expect(order).toEqual([0, 1]);
    gates[1]?.open();
    await settle();
    expect(order).toEqual([0, 1, 2]);
    gates[0]?.fail(new Error("a failure frees the slot too"));
    expect(await errorOf(all[0] as Promise<void>)).toBeInstanceOf(Error);
    await settle();
    expect(order).toEqual([0, 1, 2, 3]);
    gates[2]?.open();
    gates[3]?.open();
    await Promise.allSettled(all);
    expect(load.peak).toBe(2);
  });

  test("slot first, then tokens: who waits for tokens holds the slot", async () => {
    const order: string[] = [];
    const call = fn(
      { rateLimit: { key: LIMIT, cost: (n: number) => n }, concurrency: 1 },
      async (n: number) => {
        await Promise.resolve(order.push(`${String(n)} at ${String(clock.now())}`));
      },
    );
    const all = environment.run(() => Promise.all([call(3), call(1)]));
    await settle();
    expect(limiter.stats().queued).toBe(1);
    await clock.advance(200);
    await all;
    expect(order).toEqual(["3 at 100", "1 at 200"]);
  });

  test("F98 of 1,000 rounds: never two at once under 1; order A, B, D", async () => {
    for (let round = 0; round < 1_000; round += 1) {
      const load = new Load();
      const order: string[] = [];
      const call = fn({ concurrency: 1 }, (name: string, work: Promise<unknown>) =>
        load.during(() => {
          order.push(name);
          return work;
        }),
      );
      const a = gate();
      const first = call("A", a.promise);
      const second = call("B", Promise.resolve());
      const newcomer = first.then(() => call("D", Promise.resolve()));
      a.open();
      await Promise.all([first, second, newcomer]);
      expect([load.peak, ...order]).toEqual([1, "A", "B", "D"]);
    }
  });

  test("a queued call runs in the context of its own caller", async () => {
    const hold = gate();
    const call = fn({ concurrency: 1 }, async () => {
      const seen = [useContext(NAME), userStorage.getStore()];
      await hold.promise;
      return seen;
    });
    const called = (name: string): Promise<unknown> =>
      userStorage.run(name, () => withContext(NAME, name, () => call()));
    const all = [called("a"), called("b"), called("c")];
    withContext(NAME, "other", () => {
      userStorage.run("other", () => {
        hold.open();
      });
    });
    expect(await Promise.all(all)).toEqual([
      ["a", "a"],
      ["b", "b"],
      ["c", "c"],
    ]);
  });

  test("waiting ends with the scope of the call, with its reason, and those behind move up", async () => {
    const hold = gate();
    const order: string[] = [];
    const call = fn({ concurrency: 1 }, async (name: string) => {
      order.push(name);
      await hold.promise;
    });
    const first = call("first");
    const limited = environment.run(() => withTimeout(50, () => call("limited")));
    const handle = new App({ name: "app", environment }, () => call("aborted")).run();
    const last = call("last");
    const reason = new Error("stop");
    const over = [errorOf(limited), errorOf(handle)];
    handle.abort(reason);
    await clock.advance(50);
    expect(await Promise.all(over)).toMatchObject([{ code: "DEADLINE_EXCEEDED" }, reason]);
    hold.open();
    await Promise.all([first, last]);
    expect(order).toEqual(["first", "last"]);
  });

  test("a call that begins after the end runs when a slot is free, and else rejects at once", async () => {
    const hold = gate();
    const call = fn({ concurrency: 1 }, async () => hold.promise);
    const begin = gate();
    let seen: unknown;
    const handle = new App({ name: "app", environment }, async () => {
      await begin.promise;
      const first = call();
      seen = await stateOf(call());
      hold.open();
      await first;
    }).run();
    const over = errorOf(handle);
    handle.abort("stop");
    begin.open();
    await over;
    expect(seen).toEqual({ error: "stop" });
  });

  test.each([1, 2])(
    "a function that reaches itself through map does not deadlock under %p",
    async (concurrency) => {
      const load = new Load();
      const count = fn({ concurrency }, async (depth: number): Promise<number> => {
        await load.during(settle);
        const below = depth === 0 ? [] : await map(count, [depth - 1, depth - 1]);
        await load.during(settle);
        return below.reduce((sum, one) => sum + one, 1);
      });
      expect(await count(3)).toBe(15); // outside everything
      expect(await new App({ name: "app", environment, concurrency: 1 }, count, 3).run()).toBe(15); // called by main
      expect(
        await new App({ name: "app", environment, concurrency: 1 }, () => map(count, [3])).run(),
      ).toEqual([15]);
      expect(load.peak).toBeLessThanOrEqual(concurrency);
    },
  );

  test("two functions that reach each other through map do not deadlock", async () => {
    const load = new Load();
    const ping: (depth: number) => Promise<number> = fn({ concurrency: 1 }, async (depth: number) => {
      await load.during(settle);
      return depth === 0 ? 0 : ((await map(pong, [depth - 1, depth - 1]))[0] as number) + 1;
    });
    const pong = fn({ concurrency: 1 }, async (depth: number) =>
      depth === 0 ? 0 : (await ping(depth - 1)) + 1,
    );
    expect(
      await new App({ name: "app", environment, concurrency: 1 }, () => map(ping, [6, 6])).run(),
    ).toEqual([6, 6]);
    expect(load.peak).toBe(1);
  });

  test("a call that waits to get its slot back does not outlast the end of its run", async () => {
    const hold = gate();
    const child = gate();
    const log: string[] = [];
    const call = fn({ concurrency: 1 }, async (isParent: boolean) => {
      if (!isParent) return hold.promise;
      await map(() => child.promise, [0]);
      log.push("parent goes on");
    });
    const handle = new App({ name: "app", environment }, () => call(true)).run();
    await settle();
    const other = call(false);
    child.open();
    await settle();
    expect(log).toEqual([]);
    const over = errorOf(handle);
    handle.abort("stop");
    expect(await over).toBe("stop");
    expect(log).toEqual(["parent goes on"]);
    hold.open();
    await other;
    await call(false); // the slot is there again
  });
});
