import { expect, test } from "@jest/globals";
import { ContextKey, useContext } from "../../../src/context/index.js";
import type { Lifespan } from "../../../src/lifespan/index.js";
import { composeLifespans, Environment, LifespanError } from "../../../src/lifespan/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { errorOf, gate, settle } from "../../support/lifespan-helpers.js";

const A = new ContextKey<string>("a");

function part(name: string, log: string[], failure: { start?: Error; stop?: Error } = {}): Lifespan {
  return async function* (builder) {
    log.push(`start ${name}`);
    builder.defer(() => void log.push(`close ${name}`));
    await Promise.resolve();
    if (failure.start !== undefined) throw failure.start;
    yield;
    log.push(`after the yield of ${name}`);
    if (failure.stop !== undefined) throw failure.stop;
  };
}

test("parts start in order, each after the yield of the one before, and share one builder", async () => {
  const log: string[] = [];
  const environment = new Environment({
    lifespan: composeLifespans(
      async function* (builder) {
        await Promise.resolve();
        builder.provide(A, "a of the first");
        log.push("first");
        yield;
      },
      function* (builder) {
        log.push(`second finds ${builder.get(A)}`);
        yield;
      },
    ),
  });
  await environment.start();
  expect(log).toEqual(["first", "second finds a of the first"]);
  await environment.stop();
});

test("the stop unwinds as for one lifespan: the parts after the yields reversed, then the closers, last first", async () => {
  const log: string[] = [];
  const environment = new Environment({ lifespan: composeLifespans(part("a", log), part("b", log)) });
  await environment.start();
  log.length = 0;
  await environment.stop();
  expect(log).toEqual(["after the yield of b", "after the yield of a", "close b", "close a"]);
});

test("when one fails to start, those before it unwind and later ones do not start; the error is its own", async () => {
  const log: string[] = [];
  const boom = new Error("b");
  const environment = new Environment({
    lifespan: composeLifespans(part("a", log), part("b", log, { start: boom }), part("c", log)),
  });
  await expect(environment.start()).rejects.toBe(boom);
  expect(log).toEqual(["start a", "start b", "after the yield of a", "close b", "close a"]);
});

test("every part is unwound although others fail; all errors are found", async () => {
  const log: string[] = [];
  const [a, b] = [new Error("a"), new Error("b")];
  const environment = new Environment({
    lifespan: composeLifespans(part("a", log, { stop: a }), part("b", log, { stop: b })),
  });
  await environment.start();
  const error = (await errorOf(() => environment.stop())) as Error as AggregateError;
  expect(error.errors).toEqual([b, a]);
  expect(log.slice(-2)).toEqual(["close b", "close a"]);
});

test("after a stop while starting no further part begins", async () => {
  const log: string[] = [];
  const open = gate();
  const environment = new Environment({
    lifespan: composeLifespans(
      async function* () {
        await open.promise;
        yield;
        log.push("after the yield of the first");
      },
      part("second", log),
    ),
  });
  environment.start().catch(() => undefined);
  const stop = environment.stop();
  open.open();
  await stop;
  expect(log).toEqual(["after the yield of the first"]);
});

test("compositions nest", async () => {
  const log: string[] = [];
  const environment = new Environment({
    lifespan: composeLifespans(composeLifespans(part("a", log), part("b", log)), part("c", log)),
  });
  await environment.start();
  await environment.stop();
  expect(log.filter((line) => line.startsWith("start"))).toEqual(["start a", "start b", "start c"]);
  expect(log.filter((line) => line.startsWith("after"))).toEqual(
    ["c", "b", "a"].map((name) => `after the yield of ${name}`),
  );
});

test("closeTimeoutMs covers the code after each yield by itself", async () => {
  const log: string[] = [];
  const clock = new ManualClock();
  const environment = new Environment({
    clock,
    closeTimeoutMs: 10,
    lifespan: composeLifespans(part("a", log), async function* hanging() {
      yield;
      await gate().promise;
    }),
  });
  await environment.start();
  const stop = errorOf(() => environment.stop());
  await clock.advance(10);
  expect((await stop).message).toMatch(/the code after the yield of lifespan "hanging"/);
  expect(log).toEqual(["start a", "after the yield of a", "close a"]);
});

test("a part that does not yield is named", async () => {
  const environment = new Environment({
    name: "crawl",

    lifespan: composeLifespans(part("a", []), async function* forgetful() {
      await Promise.resolve();
    }),
  });
  const error = await errorOf(() => environment.start());
  expect(error).toBeInstanceOf(LifespanError);
  expect(error.message).toMatch(/"forgetful" of environment "crawl" ended without a yield/);
});

test("no part at all is a lifespan too, and the name tells the parts", async () => {
  const environment = await new Environment({ lifespan: composeLifespans() }).start();
  await environment.stop();
  async function* database(): AsyncGenerator<void, void, void> {
    yield;
  }
  expect(composeLifespans(database, database).name).toBe("composeLifespans(database, database)");
});

test("another lifespan can delegate to a composition with yield*, with the same order and errors", async () => {
  const log: string[] = [];
  const delegating = (...parts: Lifespan[]): Environment =>
    new Environment({
      lifespan: async function* (builder) {
        builder.provide(A, "a");
        yield* composeLifespans(...parts)(builder) as AsyncGenerator<void, void, void>;
        log.push(useContext(A));
      },
    });
  const environment = delegating(part("a", log), part("b", log));
  await environment.start();
  await environment.stop();
  expect(log).toEqual([
    "start a",
    "start b",
    "after the yield of b",
    "after the yield of a",
    "a",
    "close b",
    "close a",
  ]);

  const [start, stop, other] = [new Error("start"), new Error("stop"), new Error("other")];
  const failing = delegating(part("a", [], { stop }), part("b", [], { start }));
  const error = (await errorOf(() => failing.start())) as Error as AggregateError;
  expect([error.errors, error.cause]).toEqual([[start, stop], start]);

  const unclean = delegating(part("a", [], { stop }), part("b", [], { stop: other }));
  await unclean.start();
  expect(((await errorOf(() => unclean.stop())) as Error as AggregateError).errors).toEqual([other, stop]);
  await settle();
});
