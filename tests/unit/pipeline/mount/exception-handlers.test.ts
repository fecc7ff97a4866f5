import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import {
  ContextKey,
  type ExceptionHandler,
  type ExceptionInfo,
  useContext,
  withContext,
  withExceptionHandler,
} from "../../../../src/context/index.js";
import type { Environment } from "../../../../src/lifespan/index.js";
import { batched, fn, map, mapStream, mount, mountEach } from "../../../../src/pipeline/index.js";
import { begin, entries, gate, Heard, printed, range, running, settle, stateOf, tick } from "./set-up.js";

const boom = new Error("boom");
const fails = (): Promise<never> => Promise.reject(boom);

let environment: Environment;
let heard: Heard;
let lines: unknown[];
beforeEach(async () => {
  lines = printed();
  heard = new Heard();
  environment = await running("test", (builder) => {
    builder.setExceptionHandler(heard.handler);
  });
});
afterEach(async () => {
  await environment.stop();
  jest.restoreAllMocks();
});

describe("what a handler is told", () => {
  test("the error itself, and where it was: name, key, path, environment, source", async () => {
    const fetchPage = async (page: string): Promise<void> => {
      await tick();
      if (page === "/x") throw boom;
    };
    async function crawlHost(): Promise<void> {
      // Neither a map nor a call with a limit of its own is a step.
      await map(
        fn({ concurrency: 1 }, async () => {
          await mountEach(fetchPage, [
            ["/w", "/w"],
            ["/x", "/x"],
          ]);
        }),
        [1],
      );
    }
    const key = { host: "a.org" };
    await begin(environment, () => mountEach(crawlHost, new Map([[key, 1]])));
    expect(heard.errors).toEqual([boom]);
    expect(heard.errors[0]).toBe(boom);
    expect(heard.infos).toEqual([
      {
        name: "fetchPage",
        key: "/x",
        path: [
          { name: "crawlHost", key },
          { name: "fetchPage", key: "/x" },
        ],
        environment: "test",
        source: "mountEach",
      },
    ]);
    expect(heard.infos[0]?.path[0]?.key).toBe(key);
    expect(lines).toEqual([]);
  });

  test("of mount: no key; undefined can be thrown; the name is that of fn", async () => {
    await begin(environment, () => mount(fn({ name: "named" }, () => Promise.reject(undefined as never))));
    expect(heard.errors).toEqual([undefined]);
    expect(heard.infos).toEqual([
      {
        name: "named",
        key: undefined,
        path: [{ name: "named", key: undefined }],
        environment: "test",
        source: "mount",
      },
    ]);
  });

  test("what is mounted in a stream, its source, or by the consumer stands in the path of the item", async () => {
    const paths = (): string[] =>
      heard.infos.map(({ path }) => path.map(({ key }) => String(key)).join(" > "));
    function* source(): Generator<number> {
      void mountEach(fails, [["of the source", 1]]);
      yield 1;
    }
    await begin(environment, () =>
      mountEach(async () => {
        for await (const item of mapStream((n: number) => mountEach(fails, [["of the item", n]]), source())) {
          await item.ready();
          await mountEach(fails, [["of the consumer", 1]]);
        }
      }, [["parent", 1]]),
    );
    expect(paths().sort()).toEqual([
      "parent > of the consumer",
      "parent > of the item",
      "parent > of the source",
    ]);
  });

  test("of a job that mounts its successor, again and again, the path has the last 32 steps", async () => {
    const job = async (left: number): Promise<void> => {
      if (left === 0) throw new Error("the last one");
      await mountEach(job, [[`left ${String(left - 1)}`, left - 1]]);
    };
    await begin(environment, () => mount(job, 50));
    const keys = Array.from({ length: 32 }, (_, index) => `left ${String(31 - index)}`);
    expect(heard.infos.map(({ path }) => path.map(({ key }) => key))).toEqual([keys]);
  });

  test("a run that is begun in a mounted item begins a path of its own, in its own environment", async () => {
    const other = await running("other");
    await begin(environment, () => mountEach(() => other.run(() => mount(fails)), [["outer", 1]]));
    expect(heard.infos).toMatchObject([
      { path: [{ key: undefined }], environment: "other", source: "mount" },
    ]);
    await other.stop();
  });
});

describe("the order", () => {
  const log: string[] = [];
  const passes =
    (name: string): ExceptionHandler =>
    (error) => {
      log.push(name);
      throw error;
    };
  beforeEach(() => {
    log.length = 0;
  });

  test("is innermost first: handlers in the run, the environment, its parents, handlers around the run", async () => {
    const parent = await running("parent", (builder) => {
      builder.setExceptionHandler(passes("parent"));
    });
    const child = parent.child((builder) => {
      builder.setExceptionHandler(passes("child"));
    });
    await withExceptionHandler(passes("around the run"), () =>
      begin(child, () =>
        withExceptionHandler(passes("outer"), () =>
          withExceptionHandler(passes("inner"), () => mount(fails)),
        ),
      ),
    );
    expect(log).toEqual(["inner", "outer", "child", "parent", "around the run"]);
    await parent.stop();
  });

  test("a child without one has that of its parent", async () => {
    const child = environment.child(() => undefined);
    await begin(child, () => mount(fails));
    expect(heard.infos).toMatchObject([{ environment: "test/child" }]);
    await child.stop();
  });

  test("one that returns ends it: nobody else is told", async () => {
    const inner = new Heard();
    await begin(environment, () => withExceptionHandler(inner.handler, () => mount(fails)));
    expect([inner.errors.length, heard.errors.length, lines.length]).toEqual([1, 0, 0]);
  });

  test("a handler that stands around twice is asked once, in its inner place", async () => {
    const inner = passes("inner");
    const outer = passes("outer");
    await begin(environment, () =>
      withExceptionHandler(inner, () =>
        withExceptionHandler(outer, () => withExceptionHandler(inner, () => mount(fails))),
      ),
    );
    expect(log).toEqual(["inner", "outer"]);
    heard.errors.length = 0;
    await begin(environment, () =>
      environment.run(() => withExceptionHandler(outer, () => environment.run(() => mount(fails)))),
    );
    expect(heard.errors).toHaveLength(1);
    expect(log).toEqual(["inner", "outer"]);
  });

  test("a handler is that of the call of mount, not of who is around when it fails", async () => {
    const [first, second] = [new Heard(), new Heard()];
    const late = gate();
    await begin(environment, async () => {
      await withExceptionHandler(first.handler, () => mountEach(() => late.promise, [["a", 1]]));
      await withExceptionHandler(second.handler, async () => {
        late.fail(boom);
        await settle();
        await mountEach(fails, [["b", 2]]);
      });
    });
    expect([...first.infos, ...second.infos].map(({ key }) => key)).toEqual(["a", "b"]);
    expect([first.errors.length, second.errors.length]).toEqual([1, 1]);
  });

  test("the body of a batch hears of no caller's handler", async () => {
    const mine = new Heard();
    const plain = await running("plain");
    const one = batched({ maxBatchSize: 10 }, async (items: number[]) => {
      await mount(fails);
      return items;
    });
    for (const home of [environment, plain]) {
      await begin(home, () => withExceptionHandler(mine.handler, () => map(one, range(3))));
      await settle();
    }
    expect([mine.errors.length, heard.errors.length, lines.length]).toEqual([0, 1, 1]);
    await plain.stop();
  });
});

describe("a handler that fails", () => {
  test.each<[string, (error: unknown) => never | Promise<never>]>([
    [
      "throws",
      (error) => {
        throw error;
      },
    ],
    ["rejects", (error) => Promise.reject(error)],
  ])("%s: the next one gets what it threw, from the handler, with the first error", async (_name, fail) => {
    const [second, third] = [new Error("second"), new Error("third")];
    const seen: [unknown, ExceptionInfo][] = [];
    const handlers = [second, third].map((thrown): ExceptionHandler => (error, info) => {
      seen.push([error, info]);
      return fail(thrown);
    });
    await begin(environment, () =>
      withExceptionHandler(handlers[1] as ExceptionHandler, () =>
        withExceptionHandler(handlers[0] as ExceptionHandler, () => mountEach(fails, [["k", 1]])),
      ),
    );
    expect(seen.map(([error]) => error)).toEqual([boom, second]);
    expect(heard.errors).toEqual([third]);
    expect(seen[0]?.[1]).not.toHaveProperty("original");
    expect(seen[1]?.[1]).toMatchObject({ source: "handler", original: boom, name: "fails", key: "k" });
    expect(heard.infos).toMatchObject([{ source: "handler", original: boom, key: "k", environment: "test" }]);
  });

  test("harms nobody: siblings, the handle and the run go on", async () => {
    const plain = await running("plain", (builder) => {
      builder.setExceptionHandler(() => {
        throw new Error("handler");
      });
    });
    const done: number[] = [];
    const result = await begin(plain, async () => {
      const handle = await mountEach((item: number) => (item === 1 ? fails() : done.push(item)), entries(3));
      await handle.ready();
      return handle.stats();
    });
    expect(done).toEqual([0, 2]);
    expect(result).toEqual({ started: 3, done: 2, failed: 1, inFlight: 0 });
    await plain.stop();
  });
});

describe("a line on stderr", () => {
  const codes: [string, unknown, string][] = [
    ["an error", boom, "Error: boom"],
    ["a code", Object.assign(new TypeError("bad\nmore"), { code: "E_BAD" }), "TypeError [E_BAD]: bad"],
    ["no error", undefined, "undefined"],
    ["a text of many lines", "one\ntwo", "one"],
  ];
  test.each(codes)("without handlers, at once: %s", async (_name, thrown, text) => {
    const plain = await running("plain");
    function refresh(): never {
      throw thrown;
    }
    await begin(plain, async () => {
      await mount(refresh);
      await mountEach(refresh, new Map([["/x", 1]]));
    });
    expect(lines).toEqual([
      `refresh (mount) failed: ${text}`,
      `refresh (mountEach, key "/x") failed: ${text}`,
    ]);
    await plain.stop();
  });

  test("harms nobody either, whatever name, key and error are", async () => {
    const plain = await running("plain");
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const odd = Object.defineProperty(() => Promise.reject(revoked.proxy as Error), "name", {
      value: Symbol(),
    });
    const handle = await begin(plain, () =>
      mountEach(odd, [
        [revoked.proxy, 1],
        [Symbol("s"), 2],
      ]),
    );
    expect(handle.stats().failed).toBe(2);
    expect(lines).toEqual([
      "(anonymous) (mountEach, key an object) failed: an object",
      "(anonymous) (mountEach, key Symbol(s)) failed: an object",
    ]);
    await plain.stop();
  });

  test("after the last handler has failed too: both errors", async () => {
    const plain = await running("plain");
    await begin(plain, () =>
      withExceptionHandler(
        () => {
          throw new RangeError("handler\nmore");
        },
        () => mountEach(() => fails(), [[7, 1]]),
      ),
    );
    expect(lines).toEqual([
      "(anonymous) (mountEach, key 7) failed: Error: boom; its exception handler failed: RangeError: handler",
    ]);
    await plain.stop();
  });
});

describe("where a handler runs", () => {
  test("in the context of what has failed, with its overrides and values", async () => {
    const KEY = new ContextKey<string>("key");
    const seen: unknown[] = [];
    await begin(environment, () =>
      withExceptionHandler(
        async () => {
          seen.push(useContext(KEY));
          await tick();
          seen.push(useContext(KEY));
        },
        () => withContext(KEY, "inner", () => mount(fails)),
      ),
    );
    expect(seen).toEqual(["inner", "inner"]);
  });

  test("a lazy thenable that it returns is settled there", async () => {
    const KEY = new ContextKey<string>("key");
    const seen: unknown[] = [];
    const lazy = {
      then(done: (value: undefined) => void) {
        seen.push(useContext(KEY));
        done(undefined);
      },
    };
    await begin(environment, () =>
      withExceptionHandler(
        () => lazy as PromiseLike<void>,
        () => withContext(KEY, "inner", () => mount(fails)),
      ),
    );
    expect(seen).toEqual(["inner"]);
  });

  test("with only the handlers around it: what it mounts is told to those", async () => {
    const second = new Error("second");
    let calls = 0;
    await begin(environment, () =>
      withExceptionHandler(
        async () => {
          calls += 1;
          await mount(() => Promise.reject(second));
        },
        () => mount(fails),
      ),
    );
    expect([calls, ...heard.errors]).toEqual([1, second]);
  });

  test("it may wait for slots, with its own given up", async () => {
    const order: string[] = [];
    await begin(
      environment,
      () =>
        withExceptionHandler(
          async () => {
            await map((item: number) => order.push(String(item)), range(2));
            await (await mount(() => order.push("mounted"))).ready();
          },
          () => mount(fails),
        ),
      1,
    );
    expect(order).toEqual(["0", "1", "mounted"]);
  });

  test("it is awaited: by the handle and the run", async () => {
    const handling = gate();
    let isReady = false;
    const run = begin(environment, () =>
      withExceptionHandler(
        () => handling.promise,
        async () => {
          const handle = await mount(fails);
          await handle.ready();
          isReady = true;
        },
      ),
    );
    expect([await stateOf(run), isReady]).toEqual(["pending", false]);
    handling.open();
    await run;
    expect(isReady).toBe(true);
  });
});

test("what body itself throws, and what a map in it throws, is not for the handler", async () => {
  const run = begin(environment, () =>
    withExceptionHandler(heard.handler, () => map(() => fails(), range(2))),
  );
  expect(await stateOf(run)).toEqual({ error: boom });
  expect(heard.errors).toEqual([]);
});
