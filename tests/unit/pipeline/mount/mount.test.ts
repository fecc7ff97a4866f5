import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import {
  bindContext,
  ContextKey,
  currentFrame,
  useContext,
  withContext,
} from "../../../../src/context/index.js";
import { defaultEnvironment, type Environment, start, stop } from "../../../../src/lifespan/index.js";
import { fn, map, mount, type MountHandle } from "../../../../src/pipeline/index.js";
import { begin, errorOf, gate, printed, running, settle, stateOf, tick, userStorage } from "./set-up.js";

const boom = new Error("boom");

let environment: Environment;
beforeEach(async () => {
  environment = await running("test");
});
afterEach(async () => {
  await environment.stop();
  jest.restoreAllMocks();
});

describe("mount", () => {
  test("resolves when the item has started, not when it has ended", async () => {
    const work = gate();
    const log: string[] = [];
    await begin(environment, async () => {
      const handle = await mount(
        async (name: string, count: number) => {
          log.push(`${name} ${String(count)}`);
          await work.promise;
          log.push("ended");
        },
        ...(["tide", 2] as const),
      );
      expect(log).toEqual(["tide 2"]);
      expect(handle.stats()).toEqual({ started: 1, done: 0, failed: 0, inFlight: 1 });
      work.open();
      await handle.ready();
      expect(handle.stats()).toEqual({ started: 1, done: 1, failed: 0, inFlight: 0 });
    });
    expect(log).toEqual(["tide 2", "ended"]);
  });

  test("waits for a slot of the run when none is free", async () => {
    const work = gate();
    let second: Promise<MountHandle> | undefined;
    const run = begin(
      environment,
      async () => {
        await mount(() => work.promise);
        second = mount(() => undefined);
        await second;
      },
      1,
    );
    await settle();
    expect(await stateOf(second as Promise<MountHandle>)).toBe("pending");
    work.open();
    await run;
    expect((await (second as Promise<MountHandle>)).stats().done).toBe(1);
  });

  test("a failure stays there: the promise, the handle and the run do not fail", async () => {
    const lines = printed();
    const ways: [string, () => unknown][] = [
      ["rejects", () => Promise.reject(boom)],
      [
        "throws",
        () => {
          throw boom;
        },
      ],
      [
        "throws undefined",
        () => {
          throw undefined as never;
        },
      ],
      ["fn", fn(() => Promise.reject(boom))],
      [
        "thenable",
        () => ({
          then: (_ok: unknown, fail: (error: unknown) => void) => {
            fail(boom);
          },
        }),
      ],
      [
        "bad then",
        () => ({
          get then() {
            throw boom;
          },
        }),
      ],
    ];
    for (const [, f] of ways) {
      const result = await begin(environment, async () => {
        const handle = await mount(f);
        await handle.ready();
        expect(handle.stats()).toEqual({ started: 1, done: 0, failed: 1, inFlight: 0 });
        return "fine";
      });
      expect(result).toBe("fine");
    }
    expect(lines).toHaveLength(ways.length);
  });

  test("takes sync functions, lazy thenables and what fn wraps; a thenable is settled inside", async () => {
    const KEY = new ContextKey<string>("key");
    const seen: string[] = [];
    const lazy = {
      then(done: (value: unknown) => void) {
        seen.push(useContext(KEY));
        done(undefined);
      },
    };
    await begin(environment, () =>
      withContext(KEY, "inside", async () => {
        const handles = [
          await mount(() => seen.push(useContext(KEY))),
          await mount(() => lazy),
          await mount(fn({ concurrency: 1 }, async () => seen.push(useContext(KEY)))),
          await mount(
            fn(function* () {
              yield 1;
            }),
          ),
        ];
        for (const handle of handles) await handle.ready();
        expect(handles.map((handle) => handle.stats().done)).toEqual([1, 1, 1, 1]);
      }),
    );
    expect(seen).toEqual(["inside", "inside", "inside"]);
  });

  test("the item runs in the async context of the caller, also when another frees its slot", async () => {
    const seen: unknown[] = [];
    await begin(
      environment,
      async () => {
        const first = gate();
        await userStorage.run("first", () => mount(() => first.promise));
        const second = userStorage.run("second", () => mount(() => seen.push(userStorage.getStore())));
        await tick();
        userStorage.run("elsewhere", () => {
          first.open();
        });
        await second;
      },
      1,
    );
    expect(seen).toEqual(["second"]);
  });

  test("its slot is free again when it has ended", async () => {
    const order: string[] = [];
    await begin(
      environment,
      async () => {
        for (const name of ["a", "b", "c"]) {
          await mount(async () => {
            order.push(`begin ${name}`);
            await tick();
            order.push(`end ${name}`);
          });
        }
      },
      1,
    );
    expect(order).toEqual(["begin a", "end a", "begin b", "end b", "begin c", "end c"]);
  });

  test("ready() can be called any number of times, before and after the end", async () => {
    await begin(environment, async () => {
      const work = gate();
      const handle = await mount(() => work.promise);
      const [first, second] = [handle.ready(), handle.ready()];
      expect(await stateOf(first)).toBe("pending");
      work.open();
      await Promise.all([first, second, handle.ready()]);
      await handle.ready();
    });
  });

  test("ready() does not wait for what the work has mounted in turn, the run does", async () => {
    const inner = gate();
    let isReady = false;
    const run = begin(environment, async () => {
      const handle = await mount(async () => {
        await mount(() => inner.promise);
      });
      await handle.ready();
      isReady = true;
    });
    await settle();
    expect(isReady).toBe(true);
    expect(await stateOf(run)).toBe("pending");
    inner.open();
    await run;
  });

  test("refuses what is no function, as a rejection", async () => {
    await begin(environment, async () => {
      expect(await errorOf(mount("f" as never))).toMatchObject({ code: "ARGUMENT_INVALID", option: "f" });
    });
  });
});

describe("outside every run", () => {
  const refused = {
    name: "NoEnvironmentError",
    code: "ENVIRONMENT_MISSING",
    key: undefined,
  };

  test("it rejects, also while the default environment runs", async () => {
    const f = jest.fn();
    const error = (await errorOf(mount(f))) as Error;
    expect(error).toMatchObject(refused);
    expect(error.message).toMatch(/^mount\(\) was called outside every run.*app\.run\(\)/);
    await start();
    expect(defaultEnvironment.state).toBe("running");
    expect(await errorOf(mount(f))).toMatchObject(refused);
    expect(await errorOf(map(() => mount(f), [1]))).toMatchObject(refused);
    await stop();
    expect(f).not.toHaveBeenCalled();
  });

  test("it rejects in a lifespan", async () => {
    let error: unknown;
    const other = await running("other", () => {
      void mount(() => 1).catch((thrown: unknown) => (error = thrown));
    });
    expect(error).toMatchObject(refused);
    await other.stop();
  });

  test("code that is left over from a run that has ended is refused, with the environment named", async () => {
    const late = environment.run(() => bindContext(() => mount(() => 1)));
    const error = (await errorOf(late())) as Error;
    expect(error).toMatchObject({ code: "ENVIRONMENT_STATE", environment: "test", state: "running" });
    expect(error.message).toMatch(/^Environment "test" is running\. mount\(\) .*run that has ended/);
    expect(currentFrame()).toBeUndefined();
  });
});
