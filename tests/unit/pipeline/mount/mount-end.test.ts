import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { ambientScope, followSignal } from "../../../../src/cancellation/index.js";
import { ContextKey, useContext, withContext } from "../../../../src/context/index.js";
import {
  currentRun,
  Environment,
  type EnvironmentBuilder,
  type Run,
} from "../../../../src/lifespan/index.js";
import {
  map,
  mount,
  mountEach,
  type MountHandle,
  useSignal,
  withTimeout,
} from "../../../../src/pipeline/index.js";
import { RateLimiter } from "../../../../src/rate-limit/index.js";
import { ManualClock } from "../../../../src/testing/index.js";
import {
  begin,
  entries,
  errorOf,
  gate,
  Gates,
  Heard,
  printed,
  range,
  running,
  settle,
  stateOf,
} from "./set-up.js";

const reason = new Error("going down");

afterEach(() => {
  jest.restoreAllMocks();
});

describe("the run", () => {
  test("is over only when all that was mounted in it has ended, with the result of main", async () => {
    const environment = await running("test");
    const { all, wait } = new Gates();
    const run = begin(environment, async () => {
      await mount(wait);
      void mountEach(wait, entries(2));
      return "result";
    });
    for (const index of [0, 1, 2]) {
      expect(await stateOf(run)).toBe("pending");
      all[index]?.open();
    }
    expect(await run).toBe("result");
    await environment.stop();
  });

  test("that of main's failure too", async () => {
    const environment = await running("test");
    const { all, wait } = new Gates();
    const run = begin(environment, async () => {
      await mount(wait);
      throw reason;
    });
    expect(await stateOf(run)).toBe("pending");
    all[0]?.open();
    expect(await errorOf(run)).toBe(reason);
    await environment.stop();
  });

  test.each(range(12))(
    "left-over code that mounts %i turns later is waited for or refused",
    async (turns) => {
      const environment = await running("test");
      const ways: ((rest: () => void) => unknown)[] = [
        (rest) => {
          rest();
        },
        (rest) =>
          mount(async () => {
            await settle();
            rest();
          }),
      ];
      for (const way of ways) {
        let mounted: Promise<MountHandle> | undefined;
        let done = 0;
        const work = async (): Promise<void> => {
          await settle();
          done += 1;
        };
        const later = async (): Promise<void> => {
          for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
          mounted = mount(work);
          await mounted;
        };
        await begin(environment, () => way(() => void later().catch(() => undefined)));
        const doneBefore = done;
        await settle();
        const state = await stateOf(mounted as Promise<MountHandle>);
        expect(state).toMatchObject(
          doneBefore === 1 ? { value: {} } : { error: { code: "ENVIRONMENT_STATE" } },
        );
        expect(done).toBe(doneBefore);
      }
      await environment.stop();
    },
  );

  test("environment.run() gives its result at once; the stop waits, and values stay open", async () => {
    const KEY = new ContextKey<string>("key");
    const environment = await running("test", (builder) => {
      builder.provide(KEY, "open");
    });
    const work = gate();
    let seen: unknown;
    const handle = await environment.run(() =>
      mount(async () => {
        await work.promise;
        seen = useContext(KEY);
        await mount(() => 1);
      }),
    );
    const stopped = environment.stop();
    expect(await stateOf(stopped)).toBe("pending");
    work.open();
    await stopped;
    expect([seen, handle.stats().done]).toEqual(["open", 1]);
  });

  test("an abort reaches what was mounted: its signal and its acquires; that is not reported", async () => {
    const lines = printed();
    const heard = new Heard();
    const environment = await running("test", (builder) => {
      builder.setExceptionHandler(heard.handler);
    });
    const limiter = new RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0, clock: new ManualClock() });
    let handle: MountHandle | undefined;
    const run = begin(environment, async () => {
      handle = await mountEach(
        (call: () => Promise<unknown>) => call(),
        [
          ["acquires", () => limiter.acquire()],
          [
            "listens",
            () =>
              new Promise((_ok, fail) => {
                useSignal().onabort = fail;
              }).catch(() => {
                throw useSignal().reason;
              }),
          ],
          [
            "wraps",
            () =>
              limiter.acquire().catch((error: unknown) => {
                throw new Error("not today", { cause: error });
              }),
          ],
          [
            "mounts",
            async () => {
              await limiter.acquire().catch(() => mount(() => 1));
            },
          ],
          [
            "fails itself",
            async () => {
              await limiter.acquire().catch(() => {
                throw new Error("of its own");
              });
            },
          ],
        ],
      );
    });
    await settle();
    run.abort(reason);
    expect(await errorOf(run)).toBe(reason);
    expect(handle?.stats()).toEqual({ started: 5, done: 0, failed: 5, inFlight: 0 });
    expect(heard.infos.map(({ key }) => key)).toEqual(["fails itself"]);
    expect(lines).toEqual([]);
    await environment.stop();
  });

  test("what comes of the end of a fan-out that the run is a part of is not reported, nor of a later abort", async () => {
    const heard = new Heard();
    const outer = await running("outer");
    const inner = await running("inner", (builder) => {
      builder.setExceptionHandler(heard.handler);
    });
    const limiter = new RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0, clock: new ManualClock() });
    const failure = gate();
    const calls: [string, () => Promise<unknown>][] = [
      ["itself", () => limiter.acquire()],
      [
        "as a cause",
        () => limiter.acquire().catch((cause: unknown) => Promise.reject(new Error("late", { cause }))),
      ],
      ["listens", () => new Promise((_ok, fail) => followSignal(useSignal(), fail))],
      ["other", () => limiter.acquire().catch(() => Promise.reject(new Error("of its own")))],
    ];
    const run = begin(outer, () =>
      map(
        async (item: number) => {
          if (item === 0) return failure.promise;
          const handle = await inner.run(() => mountEach((call: () => Promise<unknown>) => call(), calls));
          return handle.ready();
        },
        [0, 1],
      ),
    );
    const over = errorOf(run);
    await settle();
    failure.fail(new Error("boom"));
    await settle();
    run.abort(reason);
    expect(await over).toBe(reason);
    expect(heard.infos.map(({ key }) => key)).toEqual(["other"]);
    await inner.stop();
    await outer.stop();
  });

  test("aborted, it starts nothing more: the call rejects with the reason", async () => {
    const environment = await running("test");
    const { all, wait } = new Gates();
    const seen: unknown[] = [];
    const run = begin(
      environment,
      async () => {
        seen.push(await errorOf(mountEach(wait, entries(3))));
        seen.push(await errorOf(mount(wait)));
      },
      2,
    );
    await settle();
    run.abort(reason);
    await settle();
    expect(seen).toEqual([reason, reason]);
    expect(all).toHaveLength(2);
    for (const each of all) each.open();
    expect(await errorOf(run)).toBe(reason);
    await environment.stop();
  });

  test("keeps nothing of what has ended, nor of callers", async () => {
    const environment = await running("test");
    await environment.run(async () => {
      const run = currentRun() as Run;
      const hold = gate();
      const sizes = (): number => run.scope.inner.size;
      const handle = await mount(() => hold.promise);
      expect(sizes()).toBe(0); // only the reading is a scope inside, and it is over
      await mountEach(() => 1, entries(3));
      await errorOf(mountEach(() => 1, [1 as never]));
      expect(sizes()).toBe(0);
      hold.open();
      await handle.ready();
      expect(sizes()).toBe(0);
    });
    await environment.stop();
  });
});

describe("a time limit around the call", () => {
  test("does not reach what was mounted, overrides do", async () => {
    const clock = new ManualClock();
    const KEY = new ContextKey<string>("key");
    const environment = await new Environment({ name: "test", clock }).start();
    const { all, wait } = new Gates();
    const seen: unknown[] = [];
    const run = begin(environment, async () => {
      await withContext(KEY, "mine", () =>
        withTimeout(100, () =>
          mount(async () => {
            seen.push(ambientScope()?.deadline, ambientScope() === currentRun()?.scope);
            await wait();
            seen.push(useSignal().aborted, useContext(KEY));
          }),
        ),
      );
    });
    await settle();
    await clock.advance(200);
    all[0]?.open();
    await run;
    expect(seen).toEqual([undefined, true, false, "mine"]);
    await environment.stop();
    expect(clock.pending).toBe(0);
  });

  test("ends the reading of the source with its error; what has started goes on", async () => {
    const clock = new ManualClock();
    const environment = await new Environment({ name: "test", clock }).start();
    const { all, wait } = new Gates();
    const closed = jest.fn();
    let pulled = 0;
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () =>
          pulled++ === 0
            ? Promise.resolve({ done: false, value: ["a", 1] })
            : new Promise<never>(() => undefined),
        return: closed,
      }),
    };
    let seen: unknown;
    const run = begin(environment, async () => {
      seen = await errorOf(withTimeout(100, () => mountEach(wait, source as never)));
    });
    await settle();
    await clock.advance(100);
    expect(seen).toMatchObject({ code: "DEADLINE_EXCEEDED", timeoutMs: 100 });
    expect(closed).toHaveBeenCalledTimes(1);
    expect(await stateOf(run)).toBe("pending");
    all[0]?.open();
    await run;
    await environment.stop();
  });

  test("drops an item that waits for its slot, and the slot goes to the next in line", async () => {
    const clock = new ManualClock();
    const environment = await new Environment({ name: "test", clock }).start();
    const holder = gate();
    const started: string[] = [];
    let seen: unknown;
    const run = begin(
      environment,
      async () => {
        await mount(() => holder.promise);
        seen = await errorOf(withTimeout(100, () => mountEach(() => started.push("dropped"), entries(2))));
        await mount(() => started.push("after"));
      },
      1,
    );
    await settle();
    await clock.advance(100);
    expect(seen).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    holder.open();
    await run;
    expect(started).toEqual(["after"]);
    await environment.stop();
  });

  test("one that has passed refuses the call", async () => {
    const clock = new ManualClock();
    const environment = await new Environment({ name: "test", clock }).start();
    const f = jest.fn();
    const late = gate();
    let seen: unknown;
    const run = begin(environment, () =>
      errorOf(
        withTimeout(100, async () => {
          await late.promise;
          seen = await errorOf(mount(f));
        }),
      ),
    );
    await clock.advance(100);
    late.open();
    await run;
    expect(seen).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(f).not.toHaveBeenCalled();
    await environment.stop();
  });
});

describe("a run that is told to stop", () => {
  test("main's mountEach starts nothing more and rejects with the reason; what has started goes on", async () => {
    const environment = await running("test");
    const { all, wait } = new Gates();
    const closed = jest.fn();
    const source = {
      [Symbol.iterator]: () => ({ next: () => ({ done: false, value: ["k", 1] }), return: closed }),
    };
    let seen: unknown;
    const run = begin(environment, async () => {
      seen = await errorOf(mountEach(wait, source as never, { concurrency: 2 }));
    });
    await settle();
    const stopped = environment.stop(reason);
    await settle();
    expect(seen).toBe(reason);
    expect([all.length, closed.mock.calls.length]).toEqual([2, 1]);
    expect(await stateOf(stopped)).toBe("pending");
    for (const each of all) each.open();
    await run;
    await stopped;
  });

  test("main's mount is refused; one whose item has started is not", async () => {
    const environment = await running("test");
    const { all, wait } = new Gates();
    const later = gate();
    const f = jest.fn();
    const seen: unknown[] = [];
    const run = begin(
      environment,
      async () => {
        await mount(wait);
        seen.push(await errorOf(mount(f))); // waits for the slot when the stop comes
        await later.promise;
        seen.push(await errorOf(mount(f)));
        seen.push(await errorOf(mountEach(f, entries(1))));
        seen.push((await mountEach(f, [])).stats().started);
      },
      1,
    );
    await settle();
    const stopped = environment.stop(reason);
    later.open();
    await settle();
    expect(seen).toEqual([reason, reason, reason, 0]);
    expect(f).not.toHaveBeenCalled();
    all[0]?.open();
    await run;
    await stopped;
  });

  test.each<[string, () => Iterable<[string, number]> | AsyncIterable<[string, number]>]>([
    ["an array", () => entries(3)],
    [
      "an async generator",
      async function* () {
        await Promise.resolve();
        yield* entries(3);
      },
    ],
  ])("a source that has nothing left to start resolves: %s", async (_name, items) => {
    for (const concurrency of [3, 10]) {
      const environment = await running("test");
      const { all, wait } = new Gates();
      let handle: MountHandle | undefined;
      const run = begin(environment, async () => {
        handle = await mountEach(wait, items(), { concurrency });
      });
      await settle();
      const stopped = environment.stop(reason);
      await settle();
      expect(handle?.stats().inFlight).toBe(3);
      for (const each of all) each.open();
      await run;
      await stopped;
    }
  });

  test("a source that has nothing to give is closed at once, with items in flight too", async () => {
    for (const first of [[], entries(1)]) {
      const environment = await running("test", undefined, { drainTimeoutMs: Infinity });
      const { all, wait } = new Gates();
      const closed = jest.fn();
      const next = (): Promise<unknown> => {
        const value = first.shift();
        return value === undefined ? new Promise(() => undefined) : Promise.resolve({ done: false, value });
      };
      const source = { [Symbol.asyncIterator]: () => ({ next, return: closed }) };
      let seen: unknown;
      const run = begin(environment, async () => {
        seen = await errorOf(mountEach(wait, source as never));
      });
      await settle();
      const stopped = environment.stop(reason);
      await settle();
      expect([seen, closed.mock.calls.length]).toEqual([reason, 1]);
      for (const each of all) each.open();
      await run;
      await stopped;
    }
  });

  test("work in flight goes on and may mount", async () => {
    const environment = await running("test");
    const { all, wait } = new Gates();
    const done: string[] = [];
    const run = begin(environment, async () => {
      await mount(async () => {
        await wait();
        const handle = await mountEach(
          (name: string) => mount(() => done.push(name)),
          [
            ["a", "a"],
            ["b", "b"],
          ],
        );
        await handle.ready();
        await map((item: number) => done.push(String(item)), range(2));
      });
    });
    await settle();
    const stopped = environment.stop(reason);
    await settle();
    all[0]?.open();
    await run;
    await stopped;
    expect(done).toEqual(["a", "b", "0", "1"]);
  });

  test("the end of the drain aborts what was mounted", async () => {
    const heard = new Heard();
    const set = (builder: EnvironmentBuilder): void => {
      builder.setExceptionHandler(heard.handler);
    };
    const environment = await running("test", set, { drainTimeoutMs: 0 });
    let seen: unknown;
    const run = begin(environment, async () => {
      await mount(
        () =>
          new Promise((_ok, fail) => {
            const signal = useSignal();
            signal.onabort = () => {
              seen = signal.reason;
              fail(signal.reason as Error);
            };
          }),
      );
    });
    const over = errorOf(run);
    await settle();
    await environment.stop(reason);
    expect(await over).toBe(reason);
    expect(seen).toBe(reason);
    expect(heard.errors).toEqual([]);
  });
});
