import { EventEmitter } from "node:events";
import { Readable } from "node:stream";
import { expect, test } from "@jest/globals";
import {
  bindContext,
  ContextKey,
  NoEnvironmentError,
  tryUseContext,
  useContext,
  withContext,
} from "../../../src/context/index.js";
import { errorOf, gate } from "../../support/lifespan-helpers.js";

const K = new ContextKey<number>("seven");

test("F59: a bound listener sees the context of its registration, a plain one gets the named error", async () => {
  const emitter = new EventEmitter();
  const seen: unknown[] = [];
  withContext(K, 7, () => {
    emitter.on(
      "x",
      bindContext(() => seen.push(useContext(K))),
    );
    emitter.on("x", () => seen.push(errorOf(() => useContext(K))));
  });
  const emitted = gate();
  setTimeout(() => {
    emitter.emit("x");
    emitted.open();
  }, 0);
  await emitted.promise;
  expect(seen[0]).toBe(7);
  expect(await seen[1]).toBeInstanceOf(NoEnvironmentError);
});

test("F59: the same with a stream that is fed from outside", async () => {
  const stream = new Readable({ read: () => undefined });
  const seen: unknown[] = [];
  const ended = gate();
  stream.on("data", () => seen.push(tryUseContext(K))); // it flows from here on, outside
  withContext(K, 7, () => {
    stream.on(
      "data",
      bindContext(() => seen.push(tryUseContext(K))),
    );
  });
  stream.on("end", ended.open);
  stream.push("x");
  stream.push(null);
  await ended.promise;
  expect(seen).toEqual([undefined, 7]);
});

test("F59: the same with a worker loop that began before", async () => {
  const jobs: (() => void)[] = [];
  const wake = gate();
  const loop = (async () => {
    await wake.promise;
    for (const job of jobs) job();
  })();
  const seen: unknown[] = [];
  withContext(K, 7, () => {
    jobs.push(
      bindContext(() => seen.push(tryUseContext(K))),
      () => seen.push(tryUseContext(K)),
    );
  });
  wake.open();
  await loop;
  expect(seen).toEqual([7, undefined]);
});

test("a bound function keeps this, arguments, result, name and length", () => {
  const bound = withContext(K, 7, () =>
    bindContext(function add(this: { readonly base: number }, a: number, b: number) {
      return this.base + a + b + useContext(K);
    }),
  );
  expect(bound.call({ base: 100 }, 10, 1)).toBe(118);
  expect([bound.name, bound.length]).toEqual(["add", 2]);
});

test("a function bound outside runs outside, also when it is called inside", () => {
  const bound = bindContext(() => tryUseContext(K));
  expect(withContext(K, 7, bound)).toBeUndefined();
});

test("a lazy thenable and a generator that a bound function returns stay in its context", async () => {
  const bound = withContext(K, 7, () => ({
    lazy: bindContext(
      () =>
        ({
          then: (resolve: (value: unknown) => void) => {
            resolve(tryUseContext(K));
          },
        }) as PromiseLike<unknown>,
    ),
    steps: bindContext(function* () {
      yield tryUseContext(K);
    }),
  }));
  expect(await bound.lazy()).toBe(7);
  expect([...bound.steps()]).toEqual([7]);
});
