import { expect, test } from "@jest/globals";
import { ContextKey } from "../../../src/context/index.js";
import type { EnvironmentBuilder, Lifespan } from "../../../src/lifespan/index.js";
import { composeLifespans, Environment, lifespan, LifespanError } from "../../../src/lifespan/index.js";
import { errorOf, Resource } from "../../support/lifespan-helpers.js";

const A = new ContextKey<Resource>("a");

async function failedStart(lifespan: unknown): Promise<Error & Record<string, unknown>> {
  const environment = new Environment({ name: "crawl", lifespan: lifespan as Lifespan });
  const error = await errorOf(() => environment.start());
  expect(environment.state).toBe("idle");
  return error;
}

test("F76: a lifespan that never yields is an error that names it and the remedy; what it opened is closed", async () => {
  const log: string[] = [];
  const error = await failedStart(async function* services(builder: EnvironmentBuilder) {
    await builder.provideWith(A, new Resource("a", log));
    if (log.length > 100) yield;
  });
  expect(error).toBeInstanceOf(LifespanError);
  expect(error).toMatchObject({ code: "LIFESPAN_INVALID", lifespan: "services", environment: "crawl" });
  expect(error.message).toMatch(/"services".*"crawl".*without a yield.*forget the yield/s);
  expect(log).toEqual(["open a", "close a"]);
});

test("the same for a synchronous generator", async () => {
  const error = await failedStart(function* services(builder: EnvironmentBuilder): Generator<void> {
    if (builder.signal.aborted) yield;
  });
  expect(error.message).toMatch(/without a yield/);
});

test("a lifespan that yields twice: its finally blocks run, everything is closed, stop rejects naming it", async () => {
  const log: string[] = [];
  const environment = new Environment({
    name: "crawl",
    lifespan: async function* services(builder) {
      await builder.provideWith(A, new Resource("a", log));
      try {
        yield;
        log.push("after the first yield");
        yield;
        log.push("never");
      } finally {
        log.push("finally");
      }
    },
  });
  await environment.start();
  const error = await errorOf(() => environment.stop());
  expect(error).toBeInstanceOf(LifespanError);
  expect(error.message).toMatch(/"services".*"crawl".*second time.*must yield once/s);
  expect(log).toEqual(["open a", "after the first yield", "finally", "close a"]);
});

test("yields twice and fails in a finally block: both errors are found", async () => {
  const boom = new Error("finally");
  const environment = new Environment({
    lifespan: function* () {
      try {
        yield;
        yield;
      } finally {
        throw boom;
      }
    },
  });
  await environment.start();
  const { errors } = (await errorOf(() => environment.stop())) as Error as AggregateError;
  expect(errors).toEqual([expect.any(LifespanError), boom]);
});

test("F76: a plain or async function is an error that asks for the * and the yield; what it opened is closed", async () => {
  const log: string[] = [];
  const plain = await failedStart(function services() {
    return undefined;
  });
  expect(plain).toBeInstanceOf(LifespanError);
  expect(plain.message).toMatch(/"services".*not a generator function.*forget the \*/s);

  const asynchronous = await failedStart(async (builder: EnvironmentBuilder) => {
    await builder.provideWith(A, new Resource("a", log));
  });
  expect(asynchronous.message).toMatch(/\(anonymous\) of environment "crawl" is not a generator function/);
  expect(log).toEqual(["open a", "close a"]);
});

test("an async function that fails has its error as cause", async () => {
  const boom = new Error("boom");
  const error = await failedStart(() => Promise.reject(boom));
  expect(error).toBeInstanceOf(LifespanError);
  expect(error.cause).toBe(boom);
});

test("F76: what is no function at all is refused at definition", async () => {
  for (const define of [
    () => new Environment({ lifespan: 7 as never }),
    () => lifespan({} as never),
    () => composeLifespans(undefined as never),
  ]) {
    const error = await errorOf(define);
    expect(error).toBeInstanceOf(LifespanError);
    expect(error.message).toMatch(/is not a function\. Pass a generator function/);
  }
});

test("a synchronous generator is a lifespan", async () => {
  const log: string[] = [];
  const environment = new Environment({
    lifespan: function* (builder) {
      builder.provide(A, new Resource("a", log), (a) => a[Symbol.asyncDispose]());
      yield;
      log.push("after the yield");
    },
  });
  await environment.start();
  await environment.stop();
  expect(log).toEqual(["open a", "after the yield", "close a"]);
});

test("a generator as compilers make it for old targets is a lifespan", async () => {
  const log: string[] = [];
  const steps = [{ done: false }, { done: true }];
  const compiled = (): unknown => ({
    next: () => Promise.resolve(steps[log.push("next") - 1]),
    return: () => Promise.resolve({ done: true }),
  });
  const environment = new Environment({ lifespan: compiled as unknown as Lifespan });
  await environment.start();
  await environment.stop();
  expect(log).toEqual(["next", "next"]);
});

test("the finally blocks around the yield run after the code that follows it, at stop only", async () => {
  const log: string[] = [];
  const environment = new Environment({
    lifespan: function* () {
      try {
        yield;
        log.push("after");
      } finally {
        log.push("finally");
      }
      log.push("end");
    },
  });
  await environment.start();
  expect(log).toEqual([]);
  await environment.stop();
  expect(log).toEqual(["after", "finally", "end"]);
});
