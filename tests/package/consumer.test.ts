import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Consumer } from "../support/consumer.js";
import { entries } from "../support/package-json.js";

jest.setTimeout(120_000); // packs and starts processes, on machines that may be busy

let consumer: Consumer;

beforeAll(async () => {
  consumer = await Consumer.create();
});

afterAll(async () => {
  await consumer.remove();
});

describe("loading", () => {
  test("every entry by import, with named exports and nothing on stderr", async () => {
    const program = `
      import { App } from "tidegate";
      import { RateLimiter } from "tidegate/rate-limit";
      import { ManualClock } from "tidegate/testing";
      import { readFile } from "node:fs/promises";
      const { name } = JSON.parse(await readFile(new URL(import.meta.resolve("tidegate/package.json")), "utf8"));
      console.log(JSON.stringify([App.name, RateLimiter.name, ManualClock.name, name]));`;
    expect(await consumer.evaluate("load.mjs", program)).toEqual([
      "App",
      "RateLimiter",
      "ManualClock",
      "tidegate",
    ]);
  });

  test("every entry by require, with named exports and nothing on stderr", async () => {
    const program = `
      const { App } = require("tidegate");
      const { RateLimiter } = require("tidegate/rate-limit");
      const { ManualClock } = require("tidegate/testing");
      const { name } = require("tidegate/package.json");
      console.log(JSON.stringify([App.name, RateLimiter.name, ManualClock.name, name]));`;
    expect(await consumer.evaluate("load.cjs", program)).toEqual([
      "App",
      "RateLimiter",
      "ManualClock",
      "tidegate",
    ]);
  });

  test("the entry for channels publishes what limiters of either format do", async () => {
    const program = `
      import { subscribe } from "node:diagnostics_channel";
      import { createRequire } from "node:module";
      import { publishEvents } from "tidegate/diagnostics-channel";
      const seen = [];
      subscribe("tidegate:limiter:granted", ({ limiter }) => seen.push(limiter));
      const { RateLimiter } = await import("tidegate");
      const stop = publishEvents();
      await new RateLimiter({ maxRowsPerSecond: 1, name: "esm" }).acquire();
      const { RateLimiter: Other } = createRequire(import.meta.url)("tidegate/rate-limit");
      await new Other({ maxRowsPerSecond: 1, name: "cjs" }).acquire();
      stop();
      console.log(JSON.stringify(seen));`;
    expect(await consumer.evaluate("channels.mjs", program)).toEqual(["esm", "cjs"]);
  });

  test("the entry for Redis works in both formats, with a client that is a function", async () => {
    const program = `
      import { createRequire } from "node:module";
      import { RedisRateLimiter } from "tidegate/redis";
      const { RedisRateLimiter: Other } = createRequire(import.meta.url)("tidegate/redis");
      const client = async () => ["1.0", "0", "", "", "4", "1", "0", "0"];
      const granted = [];
      for (const Limiter of [RedisRateLimiter, Other]) {
        const limiter = new Limiter({ client, name: "search", maxRowsPerSecond: 5 });
        await limiter.acquire();
        granted.push((await limiter.stats()).granted);
      }
      console.log(JSON.stringify(granted));`;
    expect(await consumer.evaluate("redis.mjs", program)).toEqual([1, 1]);
  });

  test("the entry for OpenTelemetry asks for its peer, and for nothing else", async () => {
    const program = `
      const missing = [];
      await import("tidegate/opentelemetry").catch((error) => missing.push(error.code, /'@opentelemetry\\/api'/.test(error.message)));
      try { require("tidegate/opentelemetry"); } catch (error) { missing.push(error.code, /'@opentelemetry\\/api'/.test(error.message)); }
      console.log(JSON.stringify(missing));`;
    const wrapped = `(async () => {${program}})();`;
    const [first, isPeer, ...second] = (await consumer.evaluate("peer.cjs", wrapped)) as unknown[];
    expect([first, isPeer]).toEqual(["ERR_MODULE_NOT_FOUND", true]);
    expect(second[1]).toBe(true);
    await consumer.write({
      "node_modules/@opentelemetry/api/package.json": JSON.stringify({
        name: "@opentelemetry/api",
        main: "index.js",
      }),
      "node_modules/@opentelemetry/api/index.js":
        "exports.metrics = exports.trace = exports.context = {}; exports.SpanStatusCode = {};",
    });
    const loads = `console.log(JSON.stringify([typeof require("tidegate/opentelemetry").instrument]));`;
    expect(await consumer.evaluate("with-peer.cjs", loads)).toEqual(["function"]);
  });

  test("nothing but the entries can be reached", async () => {
    const program = `
      const refused = [];
      for (const path of ["dist/index.js", "internal/registry", "context"]) {
        try { require("tidegate/" + path); } catch (error) { refused.push(error.code); }
      }
      console.log(JSON.stringify(refused));`;
    const refusal = "ERR_PACKAGE_PATH_NOT_EXPORTED";
    expect(await consumer.evaluate("private.cjs", program)).toEqual([refusal, refusal, refusal]);
  });
});

describe("importing does nothing", () => {
  /** Counts the uses of all that an import must not touch; `uses` reads and resets. */
  const WATCH = `
    const seen = [];
    function watch(holder, name, alsoStatic = []) {
      const original = holder[name];
      const note = (what) => seen.push(what);
      const watched = new Proxy(original, {
        apply: (target, self, args) => (note(name), Reflect.apply(target, self, args)),
        construct: (target, args) => (note("new " + name), Reflect.construct(target, args)),
        get: (target, key) => (alsoStatic.includes(key) && note(name + "." + key), Reflect.get(target, key)),
      });
      Object.defineProperty(holder, name, { value: watched, configurable: true, writable: true });
    }
    for (const name of ["setTimeout", "setInterval", "setImmediate", "queueMicrotask"]) watch(globalThis, name);
    for (const name of ["AbortController", "MessageChannel", "BroadcastChannel"]) watch(globalThis, name);
    watch(globalThis, "AbortSignal", ["timeout", "any"]);
    watch(globalThis, "Date", ["now"]);
    watch(performance, "now");
    watch(Math, "random");
    for (const name of ["getRandomValues", "randomUUID"]) watch(crypto, name);
    for (const name of ["on", "once", "addListener", "hrtime", "emitWarning"]) watch(process, name);
    watch(EventTarget.prototype, "addEventListener");
    const resources = () => process.getActiveResourcesInfo().filter((kind) => kind !== "FSReqPromise").length;
    const before = resources();
    const uses = () => [...seen.splice(0), ...Array(resources() - before).fill("resource")];
    `;
  const NOISY = `
    setTimeout(() => {}, 0); performance.now(); Date.now(); Math.random(); crypto.randomUUID();
    process.on("exit", () => {}); new AbortController().signal.addEventListener("abort", () => {});`;

  beforeAll(async () => {
    await consumer.write({ "noisy.mjs": NOISY, "noisy.cjs": NOISY });
  });

  const names = entries.map(({ name }) => name);

  test("by import", async () => {
    const program = `${WATCH}
      const found = {};
      for (const name of ${JSON.stringify([...names, "./noisy.mjs"])}) { await import(name); found[name] = uses(); }
      console.log(JSON.stringify(found));`;
    expectOnlyNoise(await consumer.evaluate("quiet.mjs", program), "./noisy.mjs");
  });

  test("by require, of the CommonJS files", async () => {
    const files = entries.map(({ targets }) => `./node_modules/tidegate/${targets.require.default}`);
    const program = `${WATCH}
      const found = {};
      for (const name of ${JSON.stringify([...files, "./noisy.cjs"])}) { require(name); found[name] = uses(); }
      console.log(JSON.stringify(found));`;
    expectOnlyNoise(await consumer.evaluate("quiet.cjs", program), "./noisy.cjs");
  });

  function expectOnlyNoise(found: unknown, noisy: string): void {
    const { [noisy]: noise, ...quiet } = found as Record<string, string[]>;
    expect(Object.keys(quiet)).toHaveLength(entries.length);
    expect(Object.values(quiet).flat()).toEqual([]);
    // The watching itself works: a module that does all of this is found out.
    const expected = ["setTimeout", "now", "Date.now", "random", "randomUUID", "on", "new AbortController"];
    expect(noise).toEqual([...expected, "addEventListener", "resource"]);
  }
});

describe("two copies in one process", () => {
  const COPIES = `
    import { createRequire } from "node:module";
    const esm = await import("./node_modules/tidegate/dist/index.js");
    const cjs = createRequire(import.meta.url)("./node_modules/tidegate/dist/index.cjs");
    if (esm.RateLimiter === cjs.RateLimiter) throw new Error("these are no two copies");
    `;

  test("see one another's context values", async () => {
    const program = `${COPIES}
      const key = new esm.ContextKey("port");
      const environment = new cjs.Environment({ lifespan: function* (builder) { builder.provide(key, 1); yield; } });
      const app = new esm.App({ name: "mixed", environment }, async () => [
        cjs.useContext(key), esm.useContext(key),
        esm.withContext(key, 2, () => cjs.useContext(key)), cjs.withContext(key, 3, () => esm.useContext(key)),
      ]);
      const values = await app.run();
      await environment.stop();
      console.log(JSON.stringify(values));`;
    expect(await consumer.evaluate("values.mjs", program)).toEqual([1, 1, 2, 3]);
  });

  test("share the default environment and its lifespan", async () => {
    const program = `${COPIES}
      const key = new cjs.ContextKey("port");
      esm.lifespan(function* (builder) { builder.provide(key, 1); yield; });
      const value = await new cjs.App("main", async () => esm.useContext(key)).run();
      await esm.stop();
      console.log(JSON.stringify([value, cjs.defaultEnvironment.state, esm.defaultEnvironment === cjs.defaultEnvironment]));`;
    expect(await consumer.evaluate("default.mjs", program)).toEqual([1, "stopped", true]);
  });

  test("know one another's errors", async () => {
    const program = `${COPIES}
      const error = await new cjs.RateLimiter({ maxRowsPerSecond: 1 }).acquire(-1).catch((error) => error);
      console.log(JSON.stringify([
        error.code, esm.isTidegateError(error), esm.isTidegateError(error, "ARGUMENT_INVALID"),
        esm.isTidegateError(error, "QUEUE_FULL"), error instanceof esm.TidegateError,
      ]));`;
    expect(await consumer.evaluate("errors.mjs", program)).toEqual([
      "ARGUMENT_INVALID",
      true,
      true,
      false,
      true,
    ]);
  });

  test("the end of a run releases an acquire of the other copy", async () => {
    const program = `${COPIES}
      const limiter = new cjs.RateLimiter({ maxRowsPerSecond: 1, initialTokens: 0 });
      limiter.pause(3_600_000);
      setTimeout(() => { console.error("still waiting"); process.exit(1); }, 10_000).unref();
      const environment = new esm.Environment({ lifespan: function* () { yield; } });
      const run = new esm.App({ name: "waits", environment }, () => limiter.acquire()).run();
      while (limiter.stats().queued === 0) await new Promise(setImmediate);
      run.abort(new Error("enough"));
      const reason = await run.then(() => "granted", (error) => error.message);
      await environment.stop();
      console.log(JSON.stringify([reason, limiter.stats().queued]));`;
    expect(await consumer.evaluate("release.mjs", program)).toEqual(["enough", 0]);
  });
});

test("two versions share contexts, keep their own default environments, and warn once", async () => {
  await consumer.copyAs("9.8.7", "newer");
  const { stdout, stderr } = await consumer.run(
    "versions.mjs",
    `
    import { createRequire } from "node:module";
    const require = createRequire(import.meta.url);
    const old = await import("./node_modules/tidegate/dist/index.js");
    const newer = await import("./newer/dist/index.js");
    const oldToo = require("./node_modules/tidegate/dist/index.cjs");
    const newerToo = require("./newer/dist/index.cjs");
    const key = new old.ContextKey("port");
    const value = old.withContext(key, 1, () => newer.withContext(key, old.useContext(key) + 1, () => newerToo.useContext(key)));
    const defaults = [old, oldToo, newer, newerToo].map((copy) => copy.defaultEnvironment);
    console.log(JSON.stringify([value, defaults.map((environment) => defaults.indexOf(environment))]));`,
  );
  expect(JSON.parse(stdout)).toEqual([2, [0, 0, 2, 2]]);
  const warnings = stderr.split("\n").filter((line) => line.includes("TidegateWarning"));
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain("TIDEGATE_TWO_VERSIONS");
  expect(warnings[0]).toContain("9.8.7");
  const { version } = (await consumer.evaluate(
    "version.cjs",
    `console.log(JSON.stringify(require("tidegate/package.json")));`,
  )) as { version: string };
  expect(warnings[0]).toContain(version);
});

test("a failing stop needs no global that Node 20 lacks", async () => {
  const program = `
    for (const name of ["SuppressedError", "DisposableStack", "AsyncDisposableStack"]) delete globalThis[name];
    const { ContextKey, Environment } = await import("tidegate");
    const fail = (what) => { throw new Error(what); };
    const environment = new Environment({
      lifespan: async function* (builder) {
        await builder.provideWith(new ContextKey("db"), { [Symbol.asyncDispose]: async () => fail("db") });
        await builder.provideWith(new ContextKey("file"), { [Symbol.dispose]: () => fail("file") });
        builder.defer(() => fail("deferred"));
        yield;
        fail("after the yield");
      },
    });
    await environment.start();
    const error = await environment[Symbol.asyncDispose]().then(() => undefined, (error) => error);
    console.log(JSON.stringify([error.name, error.errors.map(({ name, message }) => name + ": " + message)]));`;
  expect(await consumer.evaluate("failing-stop.mjs", program)).toEqual([
    "AggregateError",
    ["Error: after the yield", "Error: deferred", "Error: file", "Error: db"],
  ]);
});
