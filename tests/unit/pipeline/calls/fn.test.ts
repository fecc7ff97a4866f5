import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import {
  ContextKey,
  currentFrame,
  tryUseContext,
  useContext,
  withContext,
} from "../../../../src/context/index.js";
import { defaultEnvironment, Environment, lifespan } from "../../../../src/lifespan/index.js";
import { App, fn, map } from "../../../../src/pipeline/index.js";
import { errorOf, gate, settle, thrownBy } from "../helpers.js";

const KEY = new ContextKey<string>("fn/key");

describe("the wrapper", () => {
  test("keeps this, arguments, name and length; sync stays sync, and throws as f does", () => {
    const holder = {
      factor: 2,
      times: fn(function times(this: { factor: number }, a: number, b: number) {
        if (b < 0) throw new RangeError("negative");
        return this.factor * a * b;
      }),
    };
    expect(holder.times(3, 4)).toBe(24);
    expect([holder.times.name, holder.times.length]).toEqual(["times", 2]);
    expect(() => holder.times(1, -1)).toThrow(RangeError);
  });

  test("hands the promise of an async function on as it is", () => {
    const promise = Promise.resolve(1);
    expect(fn(() => promise)()).toBe(promise);
  });

  test("takes its name from the options", () => {
    const named = fn({ name: "fetch page" }, (_url: string) => 1);
    expect([named.name, named.length]).toEqual(["fetch page", 1]);
  });

  test.each([
    [() => fn(undefined as never), "f"],
    [() => fn({}, "f" as never), "f"],
    [() => fn({} as never), "f"],
    [() => fn(null as never, () => 1), "options"],
    [() => fn(undefined as never, () => 1), "options"],
    [() => fn({ name: 3 as never }, () => 1), "name"],
    [() => fn({ concurrency: 0 }, async () => Promise.resolve()), "concurrency"],
    [() => fn({ concurrency: 1.5 }, async () => Promise.resolve()), "concurrency"],
    [() => fn({ rateLimit: "limit" as never }, async () => Promise.resolve()), "rateLimit"],
    [() => fn({ rateLimit: {} as never }, async () => Promise.resolve()), "key"],
    [() => fn({ rateLimit: { key: KEY } as never }, async () => Promise.resolve()), "cost"],
  ])("what cannot be is refused: %#", (make, option) => {
    expect(thrownBy(make)).toMatchObject({ code: "ARGUMENT_INVALID", option });
  });
});

describe("the context of a call", () => {
  let environment: Environment;
  beforeEach(async () => {
    environment = await new Environment({
      name: "test",
      lifespan: function* (builder) {
        builder.provide(KEY, "provided");
        yield;
      },
    }).start();
  });
  afterEach(() => environment.stop());

  const read = fn(() => useContext(KEY));

  test("is that of the caller: no frame is made", () => {
    const frame = fn(() => currentFrame());
    environment.run(() => {
      expect(frame()).toBe(currentFrame());
      expect(read()).toBe("provided");
      expect(withContext(KEY, "override", read)).toBe("override");
    });
  });

  test("holds for every step of a generator, sync or async, whoever steps it", async () => {
    const steps = fn(function* () {
      try {
        yield tryUseContext(KEY);
        yield tryUseContext(KEY);
      } finally {
        seen.push(tryUseContext(KEY));
      }
    });
    const asyncSteps = fn(async function* () {
      yield tryUseContext(KEY);
      await Promise.resolve();
      yield tryUseContext(KEY);
    });
    const seen: unknown[] = [];
    const [sync, later] = environment.run(() =>
      withContext(KEY, "caller", () => [steps(), asyncSteps()] as const),
    );
    seen.push(sync.next().value);
    withContext(KEY, "consumer", () => {
      seen.push(sync.next().value);
      sync.return();
    });
    for await (const value of later) seen.push(value);
    expect(seen).toEqual(["caller", "caller", "caller", "caller", "caller"]);
  });

  test("a generator made outside every environment does not see the one it is stepped in", () => {
    const steps = fn(function* () {
      yield tryUseContext(KEY);
    })();
    expect(environment.run(() => steps.next().value)).toBeUndefined();
  });
});

describe("outside every environment", () => {
  afterEach(() => defaultEnvironment.stop());

  const read = fn(() => tryUseContext(KEY));
  const readLater = fn(async () => {
    await Promise.resolve();
    return useContext(KEY);
  });

  test("it is a plain function while the default environment does not run", async () => {
    expect(read()).toBeUndefined();
    expect(await errorOf(readLater())).toMatchObject({ code: "ENVIRONMENT_MISSING" });
  });

  test("it runs in the default environment while that runs, and its stop waits for it", async () => {
    const closed = jest.fn<() => void>();
    lifespan(function* defaults(builder) {
      builder.provide(KEY, "default", closed);
      yield;
    });
    await defaultEnvironment.start();
    expect([read(), await readLater()]).toEqual(["default", "default"]);
    // Also where there is a frame, but no environment in it.
    expect(withContext(KEY, "override", read)).toBe("override");
    expect(await map(read, [1])).toEqual(["default"]);

    const hold = gate();
    const waiting = fn(async () => {
      await hold.promise;
      return useContext(KEY);
    })();
    const stopped = defaultEnvironment.stop();
    await settle();
    expect(closed).not.toHaveBeenCalled();
    hold.open();
    expect(await waiting).toBe("default");
    await stopped;
    expect(closed).toHaveBeenCalledTimes(1);
    expect(read()).toBeUndefined();
  });

  test("within another environment it stays there", async () => {
    await defaultEnvironment.start();
    const environment = new Environment({
      name: "other",
      lifespan: function* (builder) {
        builder.provide(KEY, "other");
        yield;
      },
    });
    expect(await new App({ name: "app", environment }, read).run()).toBe("other");
    await environment.stop();
  });
});
