import { beforeEach, describe, expect, test } from "@jest/globals";
import { ContextKey, tryUseContext, withContext } from "../../../src/context/index.js";
import { Environment } from "../../../src/lifespan/index.js";
import { App, map, withTimeout } from "../../../src/pipeline/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { errorOf, gate } from "./helpers.js";

let clock: ManualClock;
let environment: Environment;
beforeEach(async () => {
  clock = new ManualClock();
  environment = await new Environment({ name: "test", clock, drainTimeoutMs: 100 }).start();
});

describe("withTimeout for the cleanup of a body that was too slow", () => {
  test("ends at its own time, though the limit around it has passed", async () => {
    const slow = gate();
    const never = gate();
    let cleanup: unknown;
    const limited = environment.run(() =>
      errorOf(
        withTimeout(100, async () => {
          try {
            await slow.promise;
          } finally {
            cleanup = await errorOf(withTimeout(500, () => never.promise));
          }
        }),
      ),
    );
    await clock.advance(100);
    expect(await limited).toMatchObject({ code: "DEADLINE_EXCEEDED", timeoutMs: 100 });
    slow.open();
    await clock.advance(500);
    expect(cleanup).toMatchObject({ code: "DEADLINE_EXCEEDED", timeoutMs: 500 });
    never.open();
    await environment.stop();
    expect(clock.pending).toBe(0);
  });

  test("ends at its own time in a run that was aborted", async () => {
    const never = gate();
    const errors: unknown[] = [];
    const handle = new App({ name: "app", environment }, async () => {
      errors.push(await withTimeout(500, () => errorOf(withTimeout(300, () => never.promise))));
    }).run();
    await clock.advance(100);
    handle.abort("enough");
    await clock.advance(500);
    expect(errors).toMatchObject([{ code: "DEADLINE_EXCEEDED", timeoutMs: 300 }]);
    never.open();
    await expect(handle.result()).rejects.toBe("enough");
    await environment.stop();
    expect(clock.pending).toBe(0);
  });
});

describe("map", () => {
  function* endless(): Generator<number> {
    for (let item = 0; ; item += 1) yield item;
  }
  async function* endlessAsync(): AsyncGenerator<number> {
    yield* endless();
  }

  test.each([
    [
      "an async f that waits for nothing",
      () => map(async (item: number) => item, endless(), { concurrency: 4 }),
    ],
    ["an async source that waits for nothing", () => map((item: number) => item, endlessAsync())],
    ["results that are there at once", () => map((item: number) => item, endless())],
  ])("lets the event loop have its turn: %s", async (_name, work) => {
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 1);
    const real = await new Environment({ name: "real" }).start();
    const error = await errorOf(real.run(() => withTimeout(100, work)));
    clearInterval(timer);
    expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(ticks).toBeGreaterThan(0);
    await real.stop();
  });

  test("fails when reading an item throws", async () => {
    const failure = new Error("do not read me");
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () =>
          Promise.resolve({
            done: false,
            get value(): number {
              throw failure;
            },
          }),
      }),
    };
    await expect(map((item: number) => item, source as AsyncIterable<number>)).rejects.toBe(failure);
  });
});

describe("a handle that is handed through", () => {
  test("a run whose caller has come to its end while the environment started is not begun", async () => {
    const opening = gate();
    const late = new Environment({
      name: "late",
      clock,
      lifespan: async function* () {
        await opening.promise;
        yield;
      },
    });
    let called = false;
    const limited = environment.run(() =>
      withTimeout(5, () =>
        new App({ name: "app", environment: late }, () => {
          called = true;
        }).run(),
      ),
    );
    await clock.advance(5);
    opening.open();
    expect(await errorOf(limited)).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(called).toBe(false);
    await late.stop();
    await environment.stop();
  });
});

test("F62: a promise that works only when its then is called works inside, too", async () => {
  const key = new ContextKey<string>("hostile/key");
  class LazyPromise<T> extends Promise<T> {
    #work: ((resolve: (value: T) => void) => void) | undefined;
    static override get [Symbol.species](): PromiseConstructor {
      return Promise;
    }
    static of<T>(work: (resolve: (value: T) => void) => void): LazyPromise<T> {
      const lazy = new LazyPromise<T>(() => undefined);
      lazy.#work = work;
      return lazy;
    }
    override then<A = T, B = never>(
      onValue?: ((value: T) => A | PromiseLike<A>) | null,
      onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
    ): Promise<A | B> {
      return new Promise<T>((resolve) => this.#work?.(resolve)).then(onValue, onError);
    }
  }
  const read = (): Promise<string | undefined> =>
    LazyPromise.of((resolve) => {
      resolve(tryUseContext(key));
    });
  expect(await withContext(key, "inside", read)).toBe("inside");
  expect(await environment.run(() => withContext(key, "run", read))).toBe("run");
  await environment.stop();
});
