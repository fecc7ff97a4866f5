import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { ContextKey, useContext } from "../../../src/context/index.js";
import type * as module from "../../../src/lifespan/index.js";

const K = new ContextKey<number>("k");
const REGISTRY = Symbol.for("tidegate/registry/v1");

let api: typeof module;
let warned: jest.SpiedFunction<typeof process.emitWarning>;

// A fresh default environment for each test: the registry keeps it for all copies, so one that has stopped and has no
// lifespan stands in for it.
beforeEach(async () => {
  jest.resetModules();
  const registry = (globalThis as unknown as Record<symbol, { versions: Map<string, object> } | undefined>)[
    REGISTRY
  ];
  registry?.versions.clear();
  warned = jest.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  api = await import("../../../src/lifespan/index.js");
});

afterEach(async () => {
  await api.stop();
  warned.mockRestore();
});

test("lifespan registers on the default environment and returns the function; start and stop are its", async () => {
  const log: string[] = [];
  async function* services(builder: module.EnvironmentBuilder): AsyncGenerator<void, void, void> {
    builder.provide(K, 7);
    yield;
    log.push("closed");
  }
  expect(api.lifespan(services)).toBe(services);
  const environment = await api.start();
  expect(environment).toBe(api.defaultEnvironment);
  expect(environment.name).toBe("default");
  expect(environment.run(() => useContext(K))).toBe(7);
  await api.stop();
  expect(log).toEqual(["closed"]);
  expect(environment.state).toBe("stopped");
  expect(warned).not.toHaveBeenCalled();
});

test("without a lifespan the default environment starts and provides nothing", async () => {
  const environment = await api.start();
  expect(environment.describe()).toEqual([]);
});

test("registering another lifespan warns and names both; the same one again does not", () => {
  const [first, second] = [
    async function* first(): AsyncGenerator<void, void, void> {
      yield;
    },
    async function* second(): AsyncGenerator<void, void, void> {
      yield;
    },
  ];
  api.lifespan(first);
  api.lifespan(first);
  expect(warned).not.toHaveBeenCalled();
  api.lifespan(second);
  expect(warned).toHaveBeenCalledTimes(1);
  expect(warned).toHaveBeenCalledWith(
    expect.stringMatching(/"second" replaces lifespan "first".*composeLifespans/s),
    expect.objectContaining({ code: "TIDEGATE_LIFESPAN_REPLACED" }),
  );
});

test("a lifespan registered while running takes effect at the next start", async () => {
  const providing = (value: number): module.Lifespan =>
    async function* (builder) {
      builder.provide(K, value);
      yield;
    };
  api.lifespan(providing(1));
  const environment = await api.start();
  api.lifespan(providing(2));
  expect(environment.get(K)).toBe(1);
  await api.stop();
  await api.start();
  expect(environment.get(K)).toBe(2);
});

test("stop passes its reason on", async () => {
  const environment = await api.start();
  const run = api.beginRun(environment);
  const stop = api.stop("SIGTERM");
  expect(run.stopRequest).toEqual({ reason: "SIGTERM" });
  run.end();
  await stop;
});

test("where emitWarning does not exist, the warning goes to the console", async () => {
  const emitWarning = process.emitWarning.bind(process);
  const toConsole = jest.spyOn(console, "warn").mockImplementation(() => undefined);
  api.lifespan(function* one() {
    yield;
  });
  try {
    (process as { emitWarning?: unknown }).emitWarning = undefined;
    api.lifespan(function* two() {
      yield;
    });
  } finally {
    process.emitWarning = emitWarning;
  }
  expect(toConsole).toHaveBeenCalledWith(expect.stringMatching(/TIDEGATE_LIFESPAN_REPLACED.*"two".*"one"/));
  toConsole.mockRestore();
});
