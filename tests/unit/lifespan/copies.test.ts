import { expect, jest, test } from "@jest/globals";
import * as context from "../../../src/context/index.js";
import { isTidegateError, TidegateError } from "../../../src/errors.js";
import * as first from "../../../src/lifespan/index.js";
import { errorOf } from "../../support/lifespan-helpers.js";

// As an ESM and a CommonJS copy of one version are in one process.
jest.resetModules();
const second = await import("../../../src/lifespan/index.js");
const secondContext = await import("../../../src/context/index.js");

const key = new context.ContextKey<number>("k");

function environmentOfFirst(log: string[] = []): first.Environment {
  return new first.Environment({
    name: "first",
    lifespan: async function* (builder) {
      builder.provide(key, 7, () => {
        log.push("closed");
      });
      yield;
    },
  });
}

test("the default environment is one object for all copies of one version, with its lifespan", async () => {
  expect(second.Environment).not.toBe(first.Environment); // really a second copy
  expect(second.defaultEnvironment).toBe(first.defaultEnvironment);
  first.lifespan(async function* (builder) {
    builder.provide(key, 7);
    yield;
  });
  const environment = await second.start();
  expect(environment.run(() => secondContext.useContext(key))).toBe(7);
  await second.stop();
  expect(first.defaultEnvironment.state).toBe("stopped");
});

test("one copy begins runs on an environment of another, and its stop waits for them", async () => {
  const log: string[] = [];
  const environment = environmentOfFirst(log);
  await environment.start();
  const run = second.beginRun(environment);
  expect(run.enter(() => second.currentRun())).toBe(run);
  expect(run.enter(() => secondContext.useContext(key))).toBe(7);
  const nested = run.enter(() => second.beginRun(environment));
  expect(nested.outer).toBe(run);
  const stopped = environment.stop();
  expect(run.stopRequest).toBeDefined();
  nested.end();
  run.end();
  await stopped;
  expect(log).toEqual(["closed"]);
});

test("an environment of one copy is the parent of one of another", async () => {
  const log: string[] = [];
  const parent = environmentOfFirst(log);
  const child = new second.Environment({ parent });
  await child.start();
  expect(child.get(key)).toBe(7);
  const body = child.run(() => Promise.resolve(secondContext.useContext(key)));
  await parent.stop();
  expect(await body).toBe(7);
  expect([child.state, parent.state, ...log]).toEqual(["stopped", "stopped", "closed"]);
});

test("a composed lifespan of one copy is driven part by part by another", async () => {
  const log: string[] = [];
  const part = (name: string): first.Lifespan =>
    async function* () {
      await Promise.resolve();
      yield;
      log.push(name);
    };
  const environment = new second.Environment({ lifespan: first.composeLifespans(part("a"), part("b")) });
  await environment.start();
  await environment.stop();
  expect(log).toEqual(["b", "a"]);
});

test("errors of one copy are recognised by another", async () => {
  const error = await errorOf(() => new second.Environment().get(key));
  expect(error).toBeInstanceOf(TidegateError);
  expect(isTidegateError(error, "ENVIRONMENT_STATE")).toBe(true);
});

test("what is no environment is refused", () => {
  expect(() => first.requireEnvironment({} as never)).toThrow(/"environment" must be an Environment/);
  expect(() => new first.Environment({ parent: "x" as never })).toThrow(/"parent" must be an Environment/);
  const environment = new second.Environment();
  expect(first.requireEnvironment(environment)).toBe(environment);
});
