import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { type ExceptionHandler, withExceptionHandler } from "../../../src/context/index.js";
import { Environment } from "../../../src/lifespan/index.js";
import * as first from "../../../src/pipeline/index.js";
import { errorOf, Load, settle } from "./helpers.js";

// As an ESM and a CommonJS copy of one version are in one process.
jest.resetModules();
const second = await import("../../../src/pipeline/index.js");

let environment: Environment;
beforeEach(() => {
  environment = new Environment({ name: "of the first copy" });
});
afterEach(() => environment.stop());

test("an App of one copy runs on an environment of another, and its handle is handed through", async () => {
  expect(second.App).not.toBe(first.App); // really a second copy
  const app = new second.App({ name: "app", environment }, () => first.map((item: number) => item, [1, 2]));
  await environment.start();
  const handle = environment.run(() => app.run());
  expect("abort" in handle).toBe(true);
  expect(await handle).toEqual([1, 2]);
});

test("fan-outs of both share the slots of a run, and a parent of one gives its slot up for those of the other", async () => {
  const load = new Load();
  const one = (): Promise<void> => load.during(settle);
  const main = (): Promise<unknown> =>
    Promise.all([
      first.map(async () => {
        await one();
        await second.map(() => first.map(one, [1, 2]), [1, 2]);
        await one();
      }, [1, 2]),
      second.map(
        second.fn({ concurrency: 1 }, () => first.map(one, [1, 2])),
        [1, 2],
      ),
    ]);
  await new first.App({ name: "app", environment, concurrency: 1 }, main).run();
  expect(load.peak).toBe(1);
});

test("what one copy mounts in a run of another has its slots, its path and its handlers", async () => {
  const load = new Load();
  const heard: unknown[] = [];
  const boom = new Error("boom");
  const leaf = (item: number): Promise<void> =>
    load.during(async () => {
      await settle();
      if (item === 2) throw boom;
    });
  const parent = async (): Promise<void> => {
    const handle = await first.mountEach(leaf, Object.entries({ a: 1, b: 2 }));
    await handle.ready();
  };
  const handler: ExceptionHandler = (error, { path, environment: name }) => {
    heard.push(
      error,
      path.map(({ key }) => key),
      name,
    );
  };
  const main = (): unknown => withExceptionHandler(handler, () => second.mountEach(parent, [["top", 0]]));
  await new first.App({ name: "app", environment, concurrency: 1 }, main).run();
  expect(heard).toEqual([boom, ["top", "b"], "of the first copy"]);
  expect([load.peak, load.now]).toEqual([1, 0]);
});

test("a limit and an abort of one copy end what waits in the other", async () => {
  const app = new second.App({ name: "app", environment }, () =>
    first.map(() => second.withTimeout(1, () => first.withTimeout(1_000, () => settleWithSignal())), [1]),
  );
  const settleWithSignal = (): Promise<never> => {
    const signal = first.useSignal();
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        reject(signal.reason);
      });
    });
  };
  expect(await errorOf(app.run())).toMatchObject({ code: "DEADLINE_EXCEEDED", timeoutMs: 1 });
  const handle = new second.App({ name: "app", environment }, () =>
    first.map(settleWithSignal, [1, 2]),
  ).run();
  const over = errorOf(handle);
  handle.abort("stop");
  expect(await over).toBe("stop");
});
