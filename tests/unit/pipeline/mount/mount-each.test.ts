import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { Environment } from "../../../../src/lifespan/index.js";
import { map, mountEach, type MountHandle } from "../../../../src/pipeline/index.js";
import {
  begin,
  entries,
  errorOf,
  gate,
  Gates,
  Heard,
  printed,
  running,
  settle,
  stateOf,
  tick,
} from "./set-up.js";

const boom = new Error("boom");

let environment: Environment;
let heard: Heard;
beforeEach(async () => {
  heard = new Heard();
  environment = await running("test", (builder) => {
    builder.setExceptionHandler(heard.handler);
  });
});
afterEach(async () => {
  await environment.stop();
  jest.restoreAllMocks();
});

/** A source that never gives anything, and notes when it is closed. */
function hanging(first: unknown[] = []): { source: AsyncIterable<never>; closed: jest.Mock } {
  const closed = jest.fn();
  const next = (): Promise<unknown> =>
    first.length > 0 ? Promise.resolve({ done: false, value: first.shift() }) : new Promise(() => undefined);
  const source = { [Symbol.asyncIterator]: () => ({ next, return: closed }) };
  return { source: source as never, closed };
}

describe("mountEach", () => {
  test("resolves when the source is exhausted and all items have started", async () => {
    const { all, wait } = new Gates();
    let mounting: Promise<MountHandle> | undefined;
    const run = begin(environment, async () => {
      mounting = mountEach(wait, entries(3), { concurrency: 2 });
      await mounting;
    });
    await settle();
    expect(all).toHaveLength(2);
    expect(await stateOf(mounting as Promise<MountHandle>)).toBe("pending");
    all[1]?.open();
    const handle = await (mounting as Promise<MountHandle>);
    expect(all).toHaveLength(3);
    expect(handle.stats()).toEqual({ started: 3, done: 1, failed: 0, inFlight: 2 });
    all[0]?.open();
    expect(await stateOf(run)).toBe("pending");
    all[2]?.open();
    await run;
    expect(handle.stats()).toEqual({ started: 3, done: 3, failed: 0, inFlight: 0 });
  });

  test.each<[string, () => Iterable<readonly [unknown, number]> | AsyncIterable<readonly [unknown, number]>]>(
    [
      [
        "a Map",
        () =>
          new Map([
            ["a", 1],
            ["b", 2],
          ]),
      ],
      ["Object.entries", () => Object.entries({ a: 1, b: 2 })],
      [
        "an async generator",
        async function* () {
          await tick();
          yield ["a", 1] as const;
          yield ["b", 2] as const;
        },
      ],
    ],
  )("takes %s as it is: f gets the item, reports get the key", async (_name, source) => {
    const items: number[] = [];
    await begin(environment, async () => {
      await mountEach((item: number) => {
        items.push(item);
        throw boom;
      }, source());
    });
    expect(items).toEqual([1, 2]);
    expect(heard.infos.map(({ key }) => key)).toEqual(["a", "b"]);
  });

  test("one bad item stops none of its siblings, and not the source", async () => {
    const done: number[] = [];
    await begin(environment, async () => {
      const handle = await mountEach(
        async (item: number) => {
          await tick();
          if (item % 2 === 1) throw boom;
          done.push(item);
        },
        entries(6),
        { concurrency: 2 },
      );
      await handle.ready();
      expect(handle.stats()).toEqual({ started: 6, done: 3, failed: 3, inFlight: 0 });
    });
    expect(done).toEqual([0, 2, 4]);
    expect(heard.errors).toEqual([boom, boom, boom]);
  });

  test("an empty source: a handle at once, and nothing to wait for", async () => {
    await begin(environment, async () => {
      const handle = await mountEach(() => 1, new Map());
      expect(handle.stats()).toEqual({ started: 0, done: 0, failed: 0, inFlight: 0 });
      await handle.ready();
    });
  });

  test("reads at most one entry ahead of the slots", async () => {
    const { all, wait } = new Gates();
    let pulled = 0;
    function* endless(): Generator<readonly [number, number]> {
      for (;;) yield [pulled, pulled++];
    }
    const run = begin(environment, () => mountEach(wait, endless()), 2);
    await settle();
    expect([all.length, pulled]).toEqual([2, 3]);
    run.abort(boom);
    for (const each of all) each.open();
    expect(await errorOf(run)).toBe(boom);
    expect(pulled).toBe(3);
  });

  test("F97 a concurrency that cannot be, and a source that cannot be: rejected, the source untouched", async () => {
    const opened = jest.fn();
    const source = {
      get [Symbol.iterator]() {
        return opened as never;
      },
    } as unknown as Map<string, number>;
    await begin(environment, async () => {
      for (const concurrency of [0, -1, NaN, 1.5, "2" as never, null as never]) {
        expect(await errorOf(mountEach(() => 1, source, { concurrency }))).toMatchObject({
          code: "ARGUMENT_INVALID",
          option: "concurrency",
          received: concurrency,
        });
      }
      for (const items of [null, undefined, 5, {}]) {
        expect(await errorOf(mountEach(() => 1, items as never))).toMatchObject({
          code: "ARGUMENT_INVALID",
          option: "items",
        });
      }
      expect(await errorOf(mountEach(5 as never, source))).toMatchObject({ option: "f" });
      expect(await errorOf(mountEach(() => 1, source, 5 as never))).toMatchObject({ option: "options" });
      const handle = await mountEach(() => 1, entries(2), { concurrency: Infinity });
      await handle.ready();
      expect(handle.stats().done).toBe(2);
    });
    expect(opened).not.toHaveBeenCalled();
  });

  test("outside every run it is refused, with the source untouched", async () => {
    const opened = jest.fn();
    const error = (await errorOf(mountEach(() => 1, { [Symbol.iterator]: opened } as never))) as Error;
    expect(error).toMatchObject({ code: "ENVIRONMENT_MISSING" });
    expect(error.message).toMatch(/^mountEach\(\) was called outside every run/);
    expect(opened).not.toHaveBeenCalled();
  });
});

describe("a source that fails", () => {
  test.each<[string, (boomed: Error) => Iterable<never> | AsyncIterable<never>]>([
    [
      "sync",
      function* (boomed) {
        yield ["a", 1] as never;
        throw boomed;
      },
    ],
    [
      "async",
      async function* (boomed) {
        await tick();
        yield ["a", 1] as never;
        throw boomed;
      },
    ],
  ])(
    "%s: the call rejects at once with that error; what has started goes on, and the run waits",
    async (_name, source) => {
      const { all, wait } = new Gates();
      let seen: unknown;
      const run = begin(environment, async () => {
        seen = await errorOf(mountEach(wait, source(boom)));
      });
      await settle();
      expect(seen).toBe(boom);
      expect(await stateOf(run)).toBe("pending");
      all[0]?.open();
      await run;
      expect(heard.errors).toEqual([]);
    },
  );

  test("one that cannot be opened is the same, and holds nothing", async () => {
    const source = {
      [Symbol.iterator]: () => {
        throw boom;
      },
    };
    await begin(environment, async () => {
      expect(await errorOf(mountEach(() => 1, source))).toBe(boom);
    });
  });

  test.each([
    ["a"],
    [["a"]],
    [["a", 1, 2]],
    [undefined],
    [null],
    [{ 0: "a", 1: 1, length: 2 }],
    [Promise.resolve(["a", 1])],
  ])("%p is no entry: the call rejects at once and names it, the source is closed once", async (entry) => {
    const { all, wait } = new Gates();
    const closed = jest.fn();
    for (const method of [Symbol.iterator, Symbol.asyncIterator]) {
      closed.mockClear();
      const values = [["first", 1], entry, ["third", 3]];
      const source = {
        [method]: () => ({
          next: () => {
            const step = { done: false, value: values.shift() };
            return method === Symbol.iterator ? step : Promise.resolve(step);
          },
          return: closed,
        }),
      };
      let seen: unknown;
      const run = begin(environment, async () => {
        seen = await errorOf(mountEach(wait, source as never));
      });
      await settle();
      expect(seen).toMatchObject({ code: "ARGUMENT_INVALID", option: "items", received: entry });
      expect((seen as Error).message).toMatch(/^"items" must be made of entries, \[key, item\] each; got /);
      expect(closed).toHaveBeenCalledTimes(1);
      expect(await stateOf(run)).toBe("pending");
      expect(all).toHaveLength(1);
      all.pop()?.open();
      await run;
    }
  });

  test("an entry that cannot be read is a failure of the source, which is closed; its item does not vanish", async () => {
    const { proxy, revoke } = Proxy.revocable(["a", 1] as [string, number], {});
    revoke();
    const failing = (index: number): [string, number] =>
      Object.defineProperty<[string, number]>(["a", 1], index, {
        get: () => {
          throw boom;
        },
      });
    for (const entry of [failing(0), failing(1), proxy]) {
      const closed = jest.fn();
      const source = function* (): Generator<[string, number]> {
        try {
          yield entry;
        } finally {
          closed();
        }
      };
      let seen: unknown;
      await begin(environment, async () => {
        seen = await errorOf(mountEach(() => 1, source()));
      });
      expect(seen).toBe(entry === proxy ? seen : boom);
      expect(seen).toBeInstanceOf(Error);
      expect(closed).toHaveBeenCalledTimes(1);
    }
  });

  test("an entry is read by its places, whatever its iterator gives", async () => {
    class Odd extends Array<unknown> {
      override [Symbol.iterator](): never {
        throw boom;
      }
    }
    const called = jest.fn();
    await begin(environment, () => mountEach(called, [Odd.from({ length: 2, 0: "a", 1: 5 })] as never));
    expect(called.mock.calls).toEqual([[5]]);
    expect(heard.errors).toEqual([]);
  });

  test("an entry that is none is found when it is read, not when it has a slot", async () => {
    const { all, wait } = new Gates();
    let seen: unknown;
    const run = begin(
      environment,
      async () => {
        seen = await errorOf(mountEach(wait, [["a", 1], 5 as never]));
      },
      1,
    );
    await settle();
    expect(seen).toMatchObject({ received: 5 });
    all[0]?.open();
    await run;
  });
});

describe("the end of the caller", () => {
  test("a map around it that fails ends the reading, not what has started", async () => {
    const { all, wait } = new Gates();
    const { source, closed } = hanging([["a", 1]]);
    const failure = gate();
    let seen: unknown;
    const run = begin(environment, () =>
      errorOf(
        map(
          async (item: number) => {
            if (item === 0) await failure.promise;
            else seen = await errorOf(mountEach(wait, source));
          },
          [0, 1],
        ),
      ),
    );
    await settle();
    expect(all).toHaveLength(1);
    failure.fail(boom);
    await settle();
    expect(seen).toMatchObject({ code: "RUN_ABORTED", cause: boom });
    expect(closed).toHaveBeenCalledTimes(1);
    expect(await stateOf(run)).toBe("pending"); // the item that was mounted is a part of the run
    all[0]?.open();
    expect(await run).toBe(boom);
    expect(heard.errors).toEqual([]);
  });

  test("without anybody who awaits it, the source is read on, and the run waits for it", async () => {
    const more = gate<string>();
    const started: unknown[] = [];
    async function* source(): AsyncGenerator<readonly [string, string]> {
      yield ["a", await more.promise];
    }
    const run = begin(environment, () => {
      void mountEach((item: string) => started.push(item), source());
    });
    expect(await stateOf(run)).toBe("pending");
    more.open("late");
    await run;
    expect(started).toEqual(["late"]);
  });

  test("prints nothing when nothing has failed", async () => {
    const lines = printed();
    await begin(environment, () => mountEach(() => 1, entries(3)));
    expect(lines).toEqual([]);
  });
});
