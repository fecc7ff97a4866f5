import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { ContextKey, useContext, withContext } from "../../../../src/context/index.js";
import { currentRun, Environment } from "../../../../src/lifespan/index.js";
import { App, map, RunAbortedError, useSignal } from "../../../../src/pipeline/index.js";
import { RateLimiter } from "../../../../src/rate-limit/index.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { ROOT } from "../../../support/root.js";
import { runNode } from "../../../support/run-node.js";
import { errorOf, gate, settle, stateOf, thrownBy } from "../helpers.js";

const KEY = new ContextKey<string>("app/key");

let starts: number;
let environment: Environment;
beforeEach(() => {
  starts = 0;
  environment = new Environment({
    name: "test",
    lifespan: function* (builder) {
      starts += 1;
      builder.provide(KEY, `start ${String(starts)}`);
      yield;
    },
  });
});
afterEach(() => environment.stop());

describe("new App", () => {
  test.each([
    [() => new App("", () => 1), "name"],
    [() => new App({ name: 1 as never }, () => 1), "name"],
    [() => new App(undefined as never, () => 1), "config"],
    [() => new App("app", "main" as never), "main"],
    [() => new App({ name: "app", concurrency: 0 }, () => 1), "concurrency"],
    [() => new App({ name: "app", environment: {} as never }, () => 1), "environment"],
  ])("refuses what cannot be: %#", (make, option) => {
    expect(thrownBy(make)).toMatchObject({ code: "ARGUMENT_INVALID", option });
  });

  test("runs nothing; its arguments are those of each run", async () => {
    const main = jest.fn((a: number, b: string) => `${String(a)}${b}`);
    const app = new App({ name: "app", environment }, main, 1, "x");
    expect(app.name).toBe("app");
    expect([main.mock.calls.length, environment.state]).toEqual([0, "idle"]);
    expect([await app.run(), await app.run()]).toEqual(["1x", "1x"]);
    expect(main.mock.calls).toEqual([
      [1, "x"],
      [1, "x"],
    ]);
  });
});

describe("run", () => {
  test("starts the environment, also a stopped one, and sees the values of this start", async () => {
    const app = new App({ name: "app", environment }, async () => {
      await Promise.resolve();
      return useContext(KEY);
    });
    expect(await Promise.all([app.run(), app.run()])).toEqual(["start 1", "start 1"]);
    await environment.stop();
    expect(await app.run()).toBe("start 2");
  });

  test("begins in the call when the environment runs", async () => {
    await environment.start();
    const main = jest.fn();
    const handle = new App({ name: "app", environment }, main).run();
    expect(main).toHaveBeenCalledTimes(1);
    await handle;
  });

  test("the overrides where it is called hold inside, also when the environment has to start", async () => {
    const app = new App({ name: "app", environment }, () => map(() => useContext(KEY), [0]));
    const handle = withContext(KEY, "override", () => app.run());
    expect("abort" in handle).toBe(true); // the handle itself, not a promise of it
    expect(await handle).toEqual(["override"]);
    expect(await app.run()).toEqual(["start 1"]);
  });

  test("a handle is awaited any number of times, and is like a promise", async () => {
    const handle = new App({ name: "app", environment }, () => 7).run();
    expect([await handle, await handle, await handle.result(), await handle.then((n) => n + 1)]).toEqual([
      7, 7, 7, 8,
    ]);
    const last = jest.fn();
    expect(await handle.finally(last).catch(() => 0)).toBe(7);
    expect(last).toHaveBeenCalledTimes(1);
    const boom = new Error("boom");
    const failing = new App({ name: "app", environment }, () => Promise.reject(boom)).run();
    expect([await errorOf(failing), await failing.catch((error: unknown) => error)]).toEqual([boom, boom]);
  });

  test("what main throws at once is a rejection of the handle", async () => {
    await environment.start();
    const boom = new Error("boom");
    const thrower = (): never => {
      throw boom;
    };
    expect(await errorOf(new App({ name: "app", environment }, thrower).run())).toBe(boom);
  });

  test("a start that fails is a rejection of the handle, and is tried again by the next run", async () => {
    let isBroken = true;
    const boom = new Error("boom");
    const environment = new Environment({
      name: "broken",
      lifespan: function* () {
        if (isBroken) throw boom;
        yield;
      },
    });
    const app = new App({ name: "app", environment }, () => 1);
    expect(await errorOf(app.run())).toBe(boom);
    isBroken = false;
    expect(await app.run()).toBe(1);
    await environment.stop();
  });

  test("is refused while the environment stops, and afterwards starts it again", async () => {
    const hold = gate();
    const app = new App({ name: "app", environment }, (wait: Promise<void>) => wait, hold.promise);
    const first = app.run();
    await settle();
    const stopped = environment.stop();
    expect(await errorOf(app.run())).toMatchObject({ code: "ENVIRONMENT_STATE", state: "stopping" });
    hold.open();
    await Promise.all([first, stopped]);
    await app.run();
    expect(starts).toBe(2);
  });

  test("inside the own lifespan it is an error that says so", async () => {
    const errors: unknown[] = [];
    const environment: Environment = new Environment({
      name: "own",
      lifespan: async function* () {
        errors.push(await errorOf(app.run()));
        yield;
        errors.push(await errorOf(app.run()));
      },
    });
    const app: App<[], number> = new App({ name: "app", environment }, () => 1);
    await environment.start();
    await environment.stop();
    expect(errors).toMatchObject([{ code: "ENVIRONMENT_STATE" }, { code: "ENVIRONMENT_STATE" }]);
  });

  test("options that cannot be are a rejection, and nothing starts", async () => {
    const main = jest.fn();
    const app = new App({ name: "app", environment }, main);
    expect(await errorOf(app.run(3 as never))).toMatchObject({ code: "ARGUMENT_INVALID", option: "options" });
    expect(await errorOf(app.run({ signal: {} as never }))).toMatchObject({ option: "signal" });
    expect([main.mock.calls.length, environment.state]).toEqual([0, "idle"]);
  });

  test("a run within an item has slots of its own and ends with the run around it", async () => {
    const inner = new App({ name: "inner", environment, concurrency: 1 }, () =>
      map(
        () =>
          new Promise((_resolve, reject) => {
            useSignal().addEventListener("abort", () => {
              reject("inner end");
            });
          }),
        [1],
      ),
    );
    let innerError: unknown;
    const handle = new App({ name: "outer", environment, concurrency: 1 }, () =>
      map(async () => {
        innerError = await errorOf(inner.run());
      }, [1]),
    ).run();
    await settle();
    const over = errorOf(handle);
    handle.abort("stop");
    expect(await over).toBe("stop");
    expect(innerError).toBe("stop");
  });
});

describe("abort", () => {
  test("the handle rejects with the reason once main has ended, also when main ignored it", async () => {
    const hold = gate<string>();
    const handle = new App({ name: "app", environment }, () => hold.promise).run();
    await settle();
    const reason = new Error("stop");
    const over = errorOf(handle);
    handle.abort(reason);
    handle.abort(new Error("too late"));
    expect(await stateOf(handle)).toBe("pending");
    hold.open("a result");
    expect(await over).toBe(reason);
    handle.abort();
    expect(await errorOf(handle)).toBe(reason);
  });

  test("without a reason it is a RunAbortedError", async () => {
    const handle = new App({ name: "app", environment }, () => settle()).run();
    const over = errorOf(handle);
    handle.abort();
    const error = await over;
    expect(error).toBeInstanceOf(RunAbortedError);
    expect(error).toMatchObject({ code: "RUN_ABORTED", name: "RunAbortedError" });
  });

  test("before the environment has started, main is not called", async () => {
    const opened = gate();
    const environment = new Environment({
      name: "slow",
      lifespan: async function* () {
        await opened.promise;
        yield;
      },
    });
    const main = jest.fn();
    const handle = new App({ name: "app", environment }, main).run();
    handle.abort("stop");
    expect(await stateOf(handle)).toEqual({ error: "stop" });
    opened.open();
    await environment.start();
    await settle();
    expect(main).not.toHaveBeenCalled();
    await environment.stop();
  });

  test("a finished run is not changed", async () => {
    const handle = new App({ name: "app", environment }, () => 7).run();
    await handle;
    handle.abort();
    expect(await handle).toBe(7);
  });

  test("10,000 waiting acquires are released at once", async () => {
    const limiter = new RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0, clock: new ManualClock() });
    const items = Array.from({ length: 10_000 }, (_, index) => index);
    const handle = new App({ name: "app", environment, concurrency: Infinity }, () =>
      map(() => limiter.acquire(), items),
    ).run();
    await settle();
    expect(limiter.stats().queued).toBe(10_000);
    const over = errorOf(handle);
    handle.abort("stop");
    expect(limiter.stats().queued).toBe(0);
    expect(await over).toBe("stop");
  });

  test("listeners of the signal run in the frame of the run", async () => {
    const seen: unknown[] = [];
    const hold = gate();
    const handle = new App({ name: "app", environment }, () => {
      const run = currentRun();
      useSignal().addEventListener("abort", () => seen.push(useContext(KEY), currentRun() === run));
      return hold.promise;
    }).run();
    await settle();
    const over = errorOf(handle);
    handle.abort();
    hold.open();
    await over;
    expect(seen).toEqual(["start 1", true]);
  });
});

describe("the option signal", () => {
  test("aborted before, it rejects with the reason: main is not called and nothing starts", async () => {
    const main = jest.fn();
    const reason = new Error("stop");
    const handle = new App({ name: "app", environment }, main).run({ signal: AbortSignal.abort(reason) });
    expect(await errorOf(handle)).toBe(reason);
    expect([main.mock.calls.length, environment.state]).toEqual([0, "idle"]);
  });

  test("aborted during the run, it aborts that, and its listener is gone afterwards", async () => {
    const controller = new AbortController();
    const removed = jest.spyOn(controller.signal, "removeEventListener");
    const added = jest.spyOn(controller.signal, "addEventListener");
    const app = new App({ name: "app", environment }, () => settle());
    await app.run({ signal: controller.signal });
    expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([1, 1]);
    const over = errorOf(app.run({ signal: controller.signal }));
    controller.abort("stop");
    expect(await over).toBe("stop");
  });
});

describe("disposal", () => {
  test("aborts and waits, without throwing the abort", async () => {
    const hold = gate();
    const handle = new App({ name: "app", environment }, () => hold.promise).run();
    await settle();
    const disposed = handle[Symbol.asyncDispose]();
    expect(await stateOf(disposed)).toBe("pending");
    hold.open();
    await disposed;
    expect(await errorOf(handle)).toMatchObject({ code: "RUN_ABORTED" });
  });

  test("of a run that is over does nothing", async () => {
    const handle = new App({ name: "app", environment }, () => 7).run();
    await handle;
    await handle[Symbol.asyncDispose]();
    expect(await handle).toBe(7);
  });
});

test("a failed run that nobody looks at is an unhandled rejection, like any promise", async () => {
  const program = `
    import { App, defaultEnvironment, fn, withTimeout } from "./src/index.ts";
    let unhandled;
    process.on("unhandledRejection", (reason) => unhandled.push(String(reason)));
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const failing = new App("failing", () => Promise.reject("boom"));
    const short = new App("short", () => wait(5));
    const cases = {
      "unseen": () => { failing.run(); },
      "seen": async () => { const run = failing.run(); await run.catch(() => 0); await run.result().catch(() => 0); },
      "disposed": async () => { const run = short.run(); await run[Symbol.asyncDispose](); },
      "failed unseen, then disposed": async () => { const run = failing.run(); await wait(5); await run[Symbol.asyncDispose](); },
      "aborted": () => { short.run().abort("stop"); },
      "handed through a run": () => { defaultEnvironment.run(() => failing.run()); },
      "a call inside": async () => { await new App("inside", () => void fn(() => Promise.reject("boom"))()).run(); },
      "handed through a time limit": () => { withTimeout(1_000, () => failing.run()); },
    };
    for (const [name, body] of Object.entries(cases)) {
      unhandled = [];
      await body();
      await wait(15);
      console.log(name + ": " + unhandled.join());
    }
  `;
  const { stdout, stderr } = await runNode(
    ["--import", "tsx", "--input-type=module", "--eval", program],
    ROOT,
  );
  expect(stderr).toBe("");
  expect(stdout.trim().split("\n")).toEqual([
    "unseen: boom",
    "seen: ",
    "disposed: ",
    "failed unseen, then disposed: boom",
    "aborted: stop",
    "handed through a run: boom",
    "a call inside: boom",
    "handed through a time limit: boom",
  ]);
});
