import { describe, expect, jest, test } from "@jest/globals";
import { ambientScope } from "../../../../src/cancellation/index.js";
import { Environment } from "../../../../src/lifespan/index.js";
import { App, map, mapStream, useSignal, withTimeout } from "../../../../src/pipeline/index.js";
import { RateLimiter } from "../../../../src/rate-limit/index.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { Counter, errorOf, gate, type Gate, settle, stateOf } from "../helpers.js";

const boom = new Error("boom");
const done = { done: true, value: undefined };

/** Waits for each item until its gate is opened. */
function gated(count: number): { gates: Gate[]; started: number[]; f: (index: number) => Promise<number> } {
  const gates = Array.from({ length: count }, () => gate());
  const started: number[] = [];
  const f = async (index: number): Promise<number> => {
    started.push(index);
    await gates[index]?.promise;
    return index;
  };
  return { gates, started, f };
}

describe("leaving early", () => {
  test("F88 stops the source once, starts nothing more, and waits for what is in flight", async () => {
    let ended = 0;
    function* source(): Generator<number> {
      try {
        for (let index = 0; index < 1_000; index += 1) yield index;
      } finally {
        ended += 1;
      }
    }
    const { gates, started, f } = gated(1_000);
    gates[0]?.open();
    const stream = mapStream(f, source(), { concurrency: 2 });
    const over = (async () => {
      for await (const result of stream) {
        expect(result).toBe(0);
        break;
      }
    })();
    expect(await stateOf(over)).toBe("pending");
    expect([started, ended]).toEqual([[0, 1, 2], 1]);
    for (const each of gates) each.open();
    expect(await stateOf(over)).toEqual({ value: undefined });
    expect([started, ended]).toEqual([[0, 1, 2], 1]);
    expect(await stream.next()).toEqual(done);
  });

  test("releases the acquires of items that wait, with a reason, and aborts nobody", async () => {
    const clock = new ManualClock();
    const limiter = new RateLimiter({ maxRowsPerSecond: 1, clock });
    const ends: unknown[] = [];
    const f = async (item: number): Promise<number> => {
      await limiter.acquire().catch((error: unknown) => ends.push([error, useSignal().aborted]));
      return item;
    };
    for await (const _ of mapStream(f, [0, 1, 2])) break;
    expect(ends).toMatchObject([
      [{ code: "RUN_ABORTED" }, false],
      [{ code: "RUN_ABORTED" }, false],
    ]);
    expect(limiter.stats()).toMatchObject({ queued: 0, granted: 1 });
    expect(clock.pending).toBe(0);
  });

  test("starts nothing from the moment of the call", async () => {
    const source = new Counter();
    const { gates, f } = gated(10);
    const stream = mapStream(f, source, { concurrency: 1 });
    const first = stream.next();
    await settle();
    gates[0]?.open(); // the next item would start in a reaction that is due before the stream hears that it is left
    const left = stream.return();
    await Promise.all([first, left]);
    expect([source.pulled, source.closed]).toEqual([1, 1]);
  });

  test("before the first next() leaves the source alone", async () => {
    const source = new Counter();
    const stream = mapStream((item: number) => item, source);
    expect(await stream.return()).toEqual(done);
    expect(await stream.next()).toEqual(done);
    await settle();
    expect([source.pulled, source.closed]).toEqual([0, 0]);
    const other = mapStream((item: number) => item, source);
    expect(await Promise.all([other.next(), other.return()])).toEqual([done, done]); // before it has begun
    expect([source.pulled, source.closed]).toEqual([0, 0]);
  });

  test("answers calls of next() that wait as done, and throw() comes out itself", async () => {
    const { gates, f } = gated(2);
    const stream = mapStream(f, [0, 1]);
    const next = stream.next();
    await settle();
    const thrown = stream.throw(boom);
    thrown.catch(() => undefined);
    expect(await stateOf(next)).toBe("pending");
    expect(await stateOf(thrown)).toBe("pending");
    for (const each of gates) each.open();
    expect(await next).toEqual(done);
    expect(await errorOf(thrown)).toBe(boom);
    expect(await stream.next()).toEqual(done);
  });

  test("drops what nobody has taken: results, and an error that was due", async () => {
    const f = (item: number): number => {
      if (item === 2) throw boom;
      return item;
    };
    const stream = mapStream(f, [0, 1, 2, 3]);
    expect(await stream.next()).toEqual({ done: false, value: 0 });
    await settle();
    await stream[Symbol.asyncDispose]();
    expect(await stream.next()).toEqual(done);
  });

  test("does not wait for a source that hangs", async () => {
    const closed = jest.fn(() => new Promise<never>(() => undefined));
    const answers = [Promise.resolve({ done: false, value: 0 })];
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => answers.shift() ?? new Promise<never>(() => undefined),
        return: closed,
      }),
    };
    const left = (async () => {
      for await (const _ of mapStream((item: number) => item, source as AsyncIterable<number>)) break;
    })();
    expect(await stateOf(left)).toEqual({ value: undefined });
    expect(closed).toHaveBeenCalledTimes(1);
  });
});

describe("the first failure", () => {
  test("comes after the results before it, whenever they are ready, and closes the source once", async () => {
    const source = new Counter();
    const { gates, started, f } = gated(10);
    const stream = mapStream(f, source, { concurrency: 3 });
    const steps = [stream.next(), stream.next(), stream.next(), stream.next()];
    const end = errorOf(steps[1] as Promise<unknown>);
    await settle();
    gates[2]?.open();
    await settle();
    gates[1]?.fail(boom);
    await settle();
    expect([source.closed, started]).toEqual([1, [0, 1, 2, 3]]);
    gates[0]?.open();
    expect(await steps[0]).toEqual({ done: false, value: 0 });
    expect(await stateOf(steps[1] as Promise<unknown>)).toBe("pending"); // item 3 is in flight
    gates[3]?.fail(new Error("later"));
    expect(await end).toBe(boom);
    expect(await Promise.all(steps.slice(2))).toEqual([done, done]); // nothing behind the failed item
    expect([source.pulled, source.closed]).toEqual([4, 1]);
  });

  test("with ordered: false comes after all results there are", async () => {
    const { gates, f } = gated(3);
    const stream = mapStream(f, [0, 1, 2], { ordered: false });
    const first = stream.next();
    await settle();
    gates[0]?.fail(boom);
    await settle();
    gates[2]?.open();
    expect(await first).toEqual({ done: false, value: 2 });
    gates[1]?.open();
    expect(await stream.next()).toEqual({ done: false, value: 1 });
    expect(await errorOf(stream.next())).toBe(boom);
    expect(await stream.next()).toEqual(done);
  });

  test("releases the waiting acquires of the items", async () => {
    const limiter = new RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0, clock: new ManualClock() });
    const reasons: unknown[] = [];
    const f = async (item: number): Promise<void> => {
      if (item === 0) throw boom;
      await limiter.acquire().catch((error: unknown) => reasons.push(error));
    };
    const stream = mapStream(f, [1, 0]);
    expect(await stream.next()).toMatchObject({ done: false });
    expect(await errorOf(stream.next())).toBe(boom);
    expect(reasons).toMatchObject([{ code: "RUN_ABORTED", cause: boom }]);
  });

  test("may be undefined, thrown at once, or one of the source", async () => {
    expect(await stateOf(mapStream(() => Promise.reject(undefined), [1]).next())).toEqual({
      error: undefined,
    });
    const f = (): never => {
      throw boom;
    };
    expect(await errorOf(mapStream(f, [1]).next())).toBe(boom);
    function* sync(): Generator<number> {
      yield 1;
      throw boom;
    }
    async function* later(): AsyncGenerator<number> {
      yield 1;
      await Promise.reject(boom);
    }
    for (const source of [sync, later]) {
      const stream = mapStream((item: number) => item, source());
      expect(await stream.next()).toEqual({ done: false, value: 1 });
      expect(await errorOf(stream.next())).toBe(boom);
    }
  });

  test("of a fan-out around ends the stream of an item", async () => {
    const inner = new Counter();
    const [failure, going] = [gate(), gate()];
    let innerError: unknown;
    const results = map(
      async (item: number) => {
        if (item === 0) await failure.promise;
        else innerError = await errorOf(mapStream(() => going.promise, inner, { concurrency: 2 }).next());
      },
      [0, 1],
    );
    await settle();
    failure.fail(boom);
    await settle();
    expect([inner.pulled, inner.closed]).toEqual([2, 1]);
    going.open();
    expect(await errorOf(results)).toBe(boom);
    expect(innerError).toMatchObject({ code: "RUN_ABORTED", cause: boom });
  });
});

describe("the end of the scope around", () => {
  test.each([0, 1, 3])("F95 an abort rejects with the reason; %p results were ready", async (ready) => {
    const reason = new Error("stop");
    const environment = await new Environment({ name: "test" }).start();
    const { gates, f } = gated(3);
    const [goOn, log] = [gate(), [] as unknown[]];
    const handle = new App({ name: "app", environment }, async () => {
      const stream = mapStream(f, [0, 1, 2], { concurrency: 3 });
      const first = stream.next();
      if (ready > 0) {
        log.push(await first);
        await goOn.promise;
      }
      log.push(await errorOf(ready > 0 ? stream.next() : first), await stream.next());
    }).run();
    const over = errorOf(handle);
    await settle();
    for (let index = 0; index < ready; index += 1) gates[index]?.open();
    await settle();
    handle.abort(reason);
    goOn.open();
    if (ready < 3) {
      expect(await stateOf(handle)).toBe("pending"); // items are in flight
      for (const each of gates) each.open();
    }
    expect(await over).toBe(reason);
    const given = ready > 0 ? [{ done: false, value: 0 }] : [];
    expect(log).toEqual([...given, reason, done]);
    await environment.stop();
  });

  test("a time limit that passes", async () => {
    const clock = new ManualClock();
    const environment = await new Environment({ name: "test", clock }).start();
    const { gates, f } = gated(2);
    let inner: unknown;
    const error = environment.run(() =>
      errorOf(
        withTimeout(100, async () => {
          const stream = mapStream(f, [0, 1], { concurrency: 1 });
          inner = await errorOf(stream.next());
          throw inner;
        }),
      ),
    );
    await settle();
    await clock.advance(100);
    expect(await stateOf(error)).toMatchObject({ value: { code: "DEADLINE_EXCEEDED" } });
    gates[0]?.open();
    await settle();
    expect(inner).toBe(await error);
    await environment.stop();
  });

  test("a stream that is over, left or never begun leaves nothing in the scope around", async () => {
    await map(async () => {
      const inner = (ambientScope() as unknown as { inner: Set<unknown> }).inner;
      void mapStream((item: number) => item, [1]);
      for await (const _ of mapStream((item: number) => item, [1, 2]));
      for await (const _ of mapStream((item: number) => item, [1, 2])) break;
      await errorOf(mapStream(() => Promise.reject(boom), [1]).next());
      expect(inner.size).toBe(0);
    }, [0]);
  });
});

describe("a run that is told to stop", () => {
  async function stopDuring(items: Iterable<number>): Promise<unknown[]> {
    const reason = new Error("going down");
    const environment = await new Environment({ name: "test", drainTimeoutMs: Infinity }).start();
    const { gates, f } = gated(10);
    const log: unknown[] = [];
    const run = new App({ name: "app", environment }, async () => {
      try {
        for await (const result of mapStream(f, items, { concurrency: 2 })) log.push(result);
        log.push("all");
      } catch (error) {
        log.push(error === reason ? "reason" : error);
      }
    }).run();
    await settle();
    const stopped = environment.stop(reason);
    await settle();
    for (const index of [1, 0]) {
      gates[index]?.open();
      await settle();
    }
    await Promise.all([run, stopped]);
    return log;
  }

  test("starts nothing more, gives the results of what is in flight, then the reason", async () => {
    const source = new Counter();
    expect(await stopDuring(source)).toEqual([0, 1, "reason"]);
    expect(source.closed).toBe(1);
  });

  test("ends well when all items had started", async () => {
    expect(await stopDuring([0, 1])).toEqual([0, 1, "all"]);
  });

  test("does not begin a stream, unless there is nothing to begin", async () => {
    const reason = new Error("going down");
    const environment = await new Environment({ name: "test", drainTimeoutMs: Infinity }).start();
    const go = gate();
    const f = jest.fn();
    const run = new App({ name: "app", environment }, async () => {
      const streams = [mapStream(f, []), mapStream(f, [1])];
      await go.promise;
      return Promise.all(streams.map((stream) => stateOf(stream.next())));
    }).run();
    await settle();
    const stopped = environment.stop(reason);
    go.open();
    expect(await run).toEqual([{ value: done }, { error: reason }]);
    expect(f).not.toHaveBeenCalled();
    await stopped;
  });
});
