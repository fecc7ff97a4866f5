import { expect, jest, test } from "@jest/globals";
import { ContextKey, tryUseContext, useContext } from "../../../src/context/index.js";
import { InvalidArgumentError } from "../../../src/errors.js";
import type { EnvironmentBuilder } from "../../../src/lifespan/index.js";
import { DuplicateProvideError, Environment, EnvironmentStateError } from "../../../src/lifespan/index.js";
import { errorOf, gate, opening, outcome, Resource, settle } from "../../support/lifespan-helpers.js";

const A = new ContextKey<Resource>("a");
const B = new ContextKey<Resource>("b");

function environmentOf(open: (builder: EnvironmentBuilder) => void | Promise<void>): Environment {
  return new Environment({ name: "env", lifespan: opening(open) });
}

test("a resource, or a promise of one, is provided, returned and closed", async () => {
  const log: string[] = [];
  const environment = environmentOf(async (builder) => {
    const a = await builder.provideWith(A, new Resource("a", log));
    const b = await builder.provideWith(B, Promise.resolve(new Resource("b", log)));
    expect([a.name, b.name]).toEqual(["a", "b"]);
    expect(builder.get(B)).toBe(b);
  });
  await environment.start();
  expect(environment.get(A).name).toBe("a");
  await environment.stop();
  expect(log).toEqual(["open a", "open b", "close b", "close a"]);
});

test("Symbol.asyncDispose is preferred to Symbol.dispose, with the resource as this", async () => {
  const key = new ContextKey<Disposable & AsyncDisposable>("both");
  const sync = jest.fn();
  const resource = {
    closed: false,
    [Symbol.dispose]: sync,
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.resolve();
      this.closed = true;
    },
  };
  const environment = environmentOf((builder) => void builder.provideWith(key, resource));
  await environment.start();
  await environment.stop();
  expect(resource.closed).toBe(true);
  expect(sync).not.toHaveBeenCalled();
});

test("a resource with Symbol.dispose only is closed by that", async () => {
  const key = new ContextKey<Disposable>("sync");
  const dispose = jest.fn();
  const environment = environmentOf(
    (builder) => void builder.provideWith(key, { [Symbol.dispose]: dispose }),
  );
  await environment.start();
  await environment.stop();
  expect(dispose).toHaveBeenCalledTimes(1);
});

test("what cannot be closed is refused, and its key stays free", async () => {
  const environment = environmentOf(async (builder) => {
    for (const value of [{}, null, 7]) {
      const error = await errorOf(() => builder.provideWith(A, value as never));
      expect(error).toBeInstanceOf(InvalidArgumentError);
      expect(error.message).toMatch(/Symbol\.asyncDispose or Symbol\.dispose/);
    }
    await expect(builder.provideWith(A, Promise.resolve({}) as never)).rejects.toThrow(InvalidArgumentError);
    await builder.provideWith(A, new Resource("a", []));
  });
  await environment.start();
  await environment.stop();
});

test("a promise that rejects leaves the key free, for a replacement", async () => {
  const log: string[] = [];
  const environment = environmentOf(async (builder) => {
    try {
      await builder.provideWith(A, Promise.reject(new Error("refused")));
    } catch {
      await builder.provideWith(A, new Resource("replacement", log));
    }
  });
  await environment.start();
  expect(environment.get(A).name).toBe("replacement");
  await environment.stop();
});

test("a key is taken from the call on; reading it before the arrival says so", async () => {
  const arrival = gate<Resource>();
  const environment = environmentOf(async (builder) => {
    const arriving = builder.provideWith(A, arrival.promise);
    expect(() => builder.get(A)).toThrow(EnvironmentStateError);
    expect(() => tryUseContext(A)).toThrow(/has not arrived yet: await builder\.provideWith/);
    expect(() => builder.provide(A, new Resource("other", []))).toThrow(DuplicateProvideError);
    arrival.open(new Resource("a", []));
    await arriving;
    expect(useContext(A).name).toBe("a");
  });
  await environment.start();
  await environment.stop();
});

test("the order of closing goes by arrival", async () => {
  const log: string[] = [];
  const [a, b] = [gate<Resource>(), gate<Resource>()];
  const environment = environmentOf(async (builder) => {
    const both = Promise.all([builder.provideWith(A, a.promise), builder.provideWith(B, b.promise)]);
    b.open(new Resource("b", log));
    await settle();
    a.open(new Resource("a", log));
    await both;
  });
  await environment.start();
  await environment.stop();
  expect(log).toEqual(["open b", "open a", "close a", "close b"]);
});

test("the start waits for what has not arrived at the yield", async () => {
  const arrival = gate<Resource>();
  const environment = environmentOf((builder) => void builder.provideWith(A, arrival.promise));
  const start = environment.start();
  expect(await outcome(start)).toBe("pending");
  arrival.open(new Resource("a", []));
  await start;
  expect(environment.get(A).name).toBe("a");
  await environment.stop();
});

test("the start fails when something that it waits for at the yield does not arrive", async () => {
  const log: string[] = [];
  const [a, boom] = [gate<Resource>(), new Error("boom")];
  const environment = environmentOf(async (builder) => {
    await builder.provideWith(B, new Resource("b", log));
    void builder.provideWith(A, a.promise);
  });
  const start = environment.start();
  await settle();
  a.fail(boom);
  await expect(start).rejects.toBe(boom);
  expect(log).toEqual(["open b", "close b"]);
});

test("in a synchronous lifespan, which cannot await, a refused resource fails the start", async () => {
  const log: string[] = [];
  const environment = new Environment({
    lifespan: function* (builder) {
      void builder.provideWith(A, new Resource("first", log));
      void builder.provideWith(A, new Resource("second", log));
      yield;
    },
  });
  await expect(environment.start()).rejects.toBeInstanceOf(DuplicateProvideError);
  expect(log).toEqual(["open first", "open second", "close second", "close first"]);
});

test("a resource refused as a duplicate is closed too, also when it is still to arrive; but none is closed twice", async () => {
  const log: string[] = [];
  const late = gate<Resource>();
  const environment = environmentOf(async (builder) => {
    const a = await builder.provideWith(A, new Resource("a", log));
    await expect(builder.provideWith(A, a)).rejects.toBeInstanceOf(DuplicateProvideError);
    await expect(builder.provideWith(A, Promise.resolve(a))).rejects.toBeInstanceOf(DuplicateProvideError);
    await expect(builder.provideWith(A, new Resource("a2", log))).rejects.toBeInstanceOf(
      DuplicateProvideError,
    );
    await expect(builder.provideWith(A, late.promise)).rejects.toBeInstanceOf(DuplicateProvideError);
    await expect(builder.provideWith(A, Promise.reject(new Error("never came")))).rejects.toBeInstanceOf(
      DuplicateProvideError,
    );
  });
  await environment.start();
  late.open(new Resource("a3", log));
  await settle();
  await environment.stop();
  expect(log).toEqual(["open a", "open a2", "open a3", "close a3", "close a2", "close a"]);
});

test("what is still to arrive when the lifespan throws is closed on arrival, in the next start's presence too", async () => {
  const log: string[] = [];
  const late = gate<Resource>();
  let starts = 0;
  const environment = environmentOf(async (builder) => {
    starts += 1;
    if (starts > 1) return;
    await builder.provideWith(B, new Resource("b", log));
    void builder.provideWith(A, late.promise);
    throw new Error("boom");
  });
  await expect(environment.start()).rejects.toThrow("boom");
  expect(log).toEqual(["open b", "close b"]);
  expect(environment.state).toBe("idle");
  await environment.start();
  late.open(new Resource("late", log));
  await settle();
  expect(log).toEqual(["open b", "close b", "open late", "close late"]);
  expect(environment.tryGet(A)).toBeUndefined();
  await environment.stop();
});

test("of two that open side by side one fails: the other is closed, whenever it comes", async () => {
  const log: string[] = [];
  const [a, b] = [gate<Resource>(), gate<Resource>()];
  const environment = environmentOf(async (builder) => {
    await Promise.all([builder.provideWith(A, a.promise), builder.provideWith(B, b.promise)]);
  });
  const start = environment.start();
  b.fail(new Error("b is down"));
  await expect(start).rejects.toThrow("b is down");
  a.open(new Resource("a", log));
  await settle();
  expect(log).toEqual(["open a", "close a"]);
});

test("a late closing that fails is a warning: nobody waits for it", async () => {
  const warned = jest.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const late = gate<AsyncDisposable>();
  const key = new ContextKey<AsyncDisposable>("late");
  const environment = environmentOf((builder) => {
    void builder.provideWith(key, late.promise);
    throw new Error("boom");
  });
  await expect(environment.start()).rejects.toThrow("boom");
  late.open({ [Symbol.asyncDispose]: () => Promise.reject(new Error("cannot close")) });
  await settle();
  expect(warned).toHaveBeenCalledWith(
    expect.stringMatching(/"env".*cannot close/),
    expect.objectContaining({ code: "TIDEGATE_LATE_CLEANUP" }),
  );
  warned.mockRestore();
});
