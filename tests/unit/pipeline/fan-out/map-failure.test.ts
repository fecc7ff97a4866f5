import { describe, expect, jest, test } from "@jest/globals";
import { ambientScope } from "../../../../src/cancellation/index.js";
import { isTidegateError } from "../../../../src/errors.js";
import { checkCancellation, map, useSignal } from "../../../../src/pipeline/index.js";
import { RateLimiter } from "../../../../src/rate-limit/index.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { Counter, errorOf, gate, type Gate, settle, stateOf } from "../helpers.js";

const boom = new Error("boom");

describe("the first failure", () => {
  test("stops pulling, closes the source once, lets calls in flight finish, then comes out itself", async () => {
    const source = new Counter();
    const gates: Gate[] = [];
    const finished: number[] = [];
    const results = map(
      async (item: number) => {
        const mine = (gates[item] = gate());
        await mine.promise;
        finished.push(item);
      },
      source,
      { concurrency: 3 },
    );
    gates[1]?.fail(boom);
    expect(await stateOf(results)).toBe("pending");
    expect([source.pulled, source.closed]).toEqual([3, 1]);
    gates[0]?.fail(new Error("later"));
    gates[2]?.open();
    expect(await errorOf(results)).toBe(boom);
    expect(finished).toEqual([2]);
    expect([source.pulled, source.closed]).toEqual([3, 1]);
  });

  test("may be thrown at once", async () => {
    const source = new Counter();
    const results = map((item: number) => {
      if (item === 2) throw boom;
      return item;
    }, source);
    expect(await errorOf(results)).toBe(boom);
    expect([source.pulled, source.closed]).toEqual([3, 1]);
  });

  test("may be undefined", async () => {
    expect(await stateOf(map(() => Promise.reject(undefined), [1]))).toEqual({ error: undefined });
  });

  test("may be one of the source: its return() is not called then", async () => {
    const closed = jest.fn();
    const source = {
      [Symbol.iterator]: () => ({
        next: () => {
          throw boom;
        },
        return: closed,
      }),
    };
    expect(await errorOf(map(() => 1, source as Iterable<number>))).toBe(boom);
    async function* failing(): AsyncGenerator<number> {
      yield 1;
      await Promise.reject(boom);
    }
    expect(await errorOf(map((item: number) => item, failing()))).toBe(boom);
    expect(closed).not.toHaveBeenCalled();
  });

  test("wins over an error of return(), sync or async", async () => {
    const fails = (): never => {
      throw new Error("from return");
    };
    for (const close of [fails, () => Promise.reject(new Error("from return"))]) {
      const source = {
        [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }), return: close }),
      };
      const f = (): never => {
        throw boom;
      };
      expect(await errorOf(map(f, source as never))).toBe(boom);
    }
  });

  test("does not wait for a next() that hangs, and a late item is dropped", async () => {
    const late = gate<IteratorResult<number>>();
    const answers = [Promise.resolve({ done: false, value: 0 }), late.promise];
    const closed = jest.fn(() => new Promise<never>(() => undefined));
    const source = {
      [Symbol.asyncIterator]: () => ({ next: () => answers.shift() as never, return: closed }),
    };
    const started: unknown[] = [];
    const first = gate();
    const results = map((item: unknown) => {
      started.push(item);
      return first.promise;
    }, source);
    await settle();
    first.fail(boom);
    expect(await stateOf(results)).toEqual({ error: boom });
    expect(closed).toHaveBeenCalledTimes(1);
    late.open({ done: false, value: 1 });
    await settle();
    expect(started).toEqual([0]);
    expect(closed).toHaveBeenCalledTimes(1);
  });

  test("an iterator that breaks the protocol is a TypeError", async () => {
    const sync = { [Symbol.iterator]: () => ({ next: () => 5 }) };
    const later = { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(undefined) }) };
    for (const source of [sync, later]) {
      expect(await errorOf(map(() => 1, source as never))).toBeInstanceOf(TypeError);
    }
  });

  test("F90 a source that is left is not pulled any further, and its finally has run once", async () => {
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
    const f = async (item: number): Promise<void> => {
      await settle();
      if (item === 10) throw boom;
    };
    expect(await errorOf(map(f, source(), { concurrency: 4 }))).toBe(boom);
    const after = pulled;
    expect(after).toBeLessThanOrEqual(10 + 4 + 1);
    await settle();
    expect([pulled, ended]).toEqual([after, 1]);
  });
});

describe("the scope of the items", () => {
  test("a failure releases the waiting acquires of the items, with a reason that names it", async () => {
    const clock = new ManualClock();
    const limiter = new RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0, clock });
    const failure = gate();
    const reasons: unknown[] = [];
    const results = map(
      async (item: number) => {
        if (item === 0) await failure.promise;
        else await limiter.acquire().catch((error: unknown) => reasons.push(error));
      },
      [0, 1, 2],
    );
    await settle();
    expect(limiter.stats().queued).toBe(2);
    failure.fail(boom);
    expect(await errorOf(results)).toBe(boom);
    expect(limiter.stats()).toMatchObject({ queued: 0, granted: 0, aborted: 2 });
    expect(clock.pending).toBe(0);
    expect(reasons.map((reason) => isTidegateError(reason, "RUN_ABORTED"))).toEqual([true, true]);
    expect(reasons[0]).toMatchObject({ name: "RunAbortedError", cause: boom });
  });

  test("an acquire that begins after the failure rejects, though a token is free; siblings are not aborted", async () => {
    const limiter = new RateLimiter({ maxRowsPerSecond: 1, clock: new ManualClock() });
    const second = gate();
    let seen: unknown;
    const results = map(
      async (item: number) => {
        if (item === 0) throw boom;
        await second.promise;
        checkCancellation();
        seen = [useSignal().aborted, await stateOf(limiter.acquire())];
      },
      [0, 1],
    );
    second.open();
    expect(await errorOf(results)).toBe(boom);
    expect(seen).toMatchObject([false, { error: { code: "RUN_ABORTED" } }]);
  });

  test("a fan-out of an item ends with the fan-out around it", async () => {
    const inner = new Counter();
    const failure = gate();
    const going = gate();
    let innerError: unknown;
    const results = map(
      async (item: number) => {
        if (item === 0) await failure.promise;
        else innerError = await errorOf(map(() => going.promise, inner, { concurrency: 2 }));
      },
      [0, 1],
    );
    failure.fail(boom);
    await settle();
    expect([inner.pulled, inner.closed]).toEqual([2, 1]);
    going.open();
    expect(await errorOf(results)).toBe(boom);
    expect(innerError).toMatchObject({ code: "RUN_ABORTED", cause: boom });
    expect(inner.pulled).toBe(2);
  });

  test("a fan-out that is over leaves nothing behind in the scope around it", async () => {
    let sizes: number[] = [];
    await map(async () => {
      const scope = ambientScope() as unknown as { inner: Set<unknown> };
      for (let turn = 0; turn < 3; turn += 1) {
        await map(
          async (item: number) => {
            await Promise.resolve(item);
          },
          [1, 2],
        );
        sizes.push(scope.inner.size);
      }
    }, [0]);
    expect(sizes).toEqual([0, 0, 0]);
    sizes = [];
  });
});
