import { describe, expect, test } from "@jest/globals";
import { bindContext, ContextKey, tryUseContext, useContext } from "../../../src/context/index.js";
import { Environment } from "../../../src/lifespan/index.js";
import { ManualClock } from "../../../src/testing/index.js";

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
}

describe("what arrives while everything is closed is closed too, in whichever turn it comes", () => {
  test.each(Array.from({ length: 30 }, (_, turn) => turn))("turn %i", async (turn) => {
    const key = new ContextKey<Disposable>("late");
    let made = 0;
    let disposed = 0;
    const environment = new Environment({
      name: "late",
      lifespan: async function* (builder) {
        const arriving = turns(turn).then(() => {
          made += 1;
          return { [Symbol.dispose]: () => void (disposed += 1) };
        });
        builder.provideWith(key, arriving).catch(() => undefined);
        await Promise.reject(new Error("no start"));
        yield;
      },
    });
    await expect(environment.start()).rejects.toThrow("no start");
    await turns(100);
    expect([made, disposed]).toEqual([1, 1]);
  });

  test.each(Array.from({ length: 30 }, (_, turn) => turn))("deferred in turn %i of a stop", async (turn) => {
    let deferred = 0;
    let ran = 0;
    const environment = await new Environment({
      name: "late",
      lifespan: function* (builder) {
        builder.defer(() => {
          void turns(turn).then(() => {
            try {
              builder.defer(() => void (ran += 1));
              deferred += 1;
            } catch {
              // Too late, and told so.
            }
          });
        });
        yield;
      },
    }).start();
    await environment.stop();
    await turns(100);
    expect(ran).toBe(deferred);
  });
});

test("start() of a child out of a run that its parent's stop waits for does not wait for that stop", async () => {
  const clock = new ManualClock();
  const parent = new Environment({ name: "parent", clock, drainTimeoutMs: 100 });
  const child = new Environment({ name: "child", parent, clock });
  await parent.start();
  let go = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const inside = parent.run(async () => {
    await gate;
    return child.start().then(
      () => "started",
      (error: unknown) => (error as { code: string }).code,
    );
  });
  const stopped = parent.stop();
  const outside = child.start().then(
    () => "started",
    (error: unknown) => (error as { code: string }).code,
  );
  await clock.advance(1);
  go();
  await clock.advance(10_000);
  expect(await inside).toBe("ENVIRONMENT_STATE");
  await stopped;
  expect(await outside).toBe("started");
  await parent.stop();
});

test("a key that is undefined by mistake finds nothing of what was found before", async () => {
  const [token, other, gone] = ["token", "other", "gone"].map((name) => new ContextKey<unknown>(name)) as [
    ContextKey<unknown>,
    ContextKey<unknown>,
    ContextKey<unknown>,
  ];
  const missing = undefined as never;
  const refused = /"key" must be a ContextKey; got undefined/;
  const environment = new Environment({
    name: "memo",
    lifespan: async function* (builder) {
      builder.provide(token, "secret");
      useContext(token);
      builder.provide(other, 1); // takes back what was found last
      expect(() => tryUseContext(missing)).toThrow(refused);
      const arriving = builder.provideWith(gone, Promise.reject(new Error("no"))).catch(() => undefined);
      useContext(token);
      await arriving; // so does this
      expect(() => tryUseContext(missing)).toThrow(refused);
      yield;
    },
  });
  await environment.start();
  expect(() => environment.run(() => useContext(missing))).toThrow(refused);
  expect(() => environment.tryGet(missing)).toThrow(refused);
  await environment.stop();
});

test("what was found last is forgotten with the value: one that does not arrive, and all at the stop", async () => {
  const value = new ContextKey<string>("value");
  const gone = new ContextKey<Disposable | undefined>("gone", { defaultValue: () => undefined });
  const environment = new Environment({
    name: "memo",
    lifespan: async function* (builder) {
      builder.provide(value, "old");
      const arriving = builder
        .provideWith(gone as never, Promise.reject(new Error("no")))
        .catch(() => undefined);
      expect(() => useContext(gone)).toThrow("has not arrived yet");
      await arriving;
      expect(useContext(gone)).toBeUndefined();
      yield;
    },
  });
  await environment.start();
  const read = environment.run(() => bindContext(() => useContext(value)));
  expect(read()).toBe("old");
  await environment.stop();
  expect(read).toThrow("This code outlives the start that it belongs to");
});
