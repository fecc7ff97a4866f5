import { createServer } from "node:http";
import { expect, test } from "@jest/globals";
import {
  bindContext,
  ContextKey,
  currentFrame,
  deriveFrame,
  NoEnvironmentError,
  runInFrame,
  useContext,
  withContext,
} from "../../../src/context/index.js";
import { Scope } from "../../../src/cancellation/index.js";
import { Environment } from "../../../src/lifespan/index.js";
import { errorOf, gate } from "../../support/lifespan-helpers.js";

const DB = new ContextKey<{ readonly name: string }>("db");

test("F64: startup, a bound handler and cleanup share one context; an unbound handler gets the named error", async () => {
  const seen: unknown[] = [];
  const handler = async (): Promise<string> => {
    await Promise.resolve();
    return useContext(DB).name;
  };
  const routes: Record<string, () => unknown> = { "/plain": () => errorOf(handler) };
  const server = createServer((request, response) => {
    const route = routes[request.url ?? ""];
    void Promise.resolve(route?.()).then((result) => {
      seen.push(result);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const environment = new Environment({
    lifespan: async function* (builder) {
      const db = builder.provide(DB, { name: "the db" });
      seen.push(useContext(DB) === db);
      yield;
      seen.push(useContext(DB) === db);
    },
  });
  await environment.start();
  routes["/run"] = () => environment.run(handler);
  routes["/bound"] = environment.run(() => bindContext(handler));
  const { port } = server.address() as { readonly port: number };
  for (const route of ["/run", "/bound", "/plain"]) await fetch(`http://127.0.0.1:${String(port)}${route}`);
  await environment.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(seen[0]).toBe(true);
  expect(seen.slice(1, 3)).toEqual(["the db", "the db"]);
  expect(seen[3]).toBeInstanceOf(NoEnvironmentError);
  expect(seen[4]).toBe(true);
});

test("lifespan, lazy values, disposers and deferred cleanup never see an override of who starts or stops", async () => {
  const lazy = new ContextKey<string>("lazy");
  const seen: string[] = [];
  const see = (where: string): void => void seen.push(`${where}: ${useContext(DB).name}`);
  const environment = new Environment({
    lifespan: async function* (builder) {
      builder.provide(DB, { name: "own" });
      see("before the yield");
      await Promise.resolve();
      see("after an await");
      builder.provide(new ContextKey<number>("n"), 1, () => {
        see("disposer");
      });
      builder.defer(async () => {
        await Promise.resolve();
        see("deferred");
      });
      builder.provideLazy(lazy, () => {
        see("lazy");
        return "made";
      });
      yield;
      see("after the yield");
      await Promise.resolve();
      see("after the yield, after an await");
    },
  });
  await withContext(DB, { name: "of who starts" }, () => environment.start());
  withContext(DB, { name: "of who looks" }, () => environment.get(lazy));
  await withContext(DB, { name: "of who stops" }, () => environment.stop());
  expect(seen).toEqual(
    [
      "before the yield",
      "after an await",
      "lazy",
      "after the yield",
      "after the yield, after an await",
      "deferred",
      "disposer",
    ].map((where) => `${where}: own`),
  );
});

test("the frame of the lifespan has no run, no scope, no item and no overrides", async () => {
  const frames: unknown[] = [];
  const environment = new Environment({
    lifespan: async function* (builder) {
      frames.push(currentFrame());
      builder.defer(() => void frames.push(currentFrame()));
      yield;
      frames.push(currentFrame());
    },
  });
  const strange = deriveFrame(undefined, { scope: new Scope(), item: {}, overrides: new Map() });
  await runInFrame(strange, () => environment.start());
  await runInFrame(strange, () => environment.stop());
  expect(frames).toHaveLength(3);
  for (const frame of frames) {
    expect(frame).toMatchObject({
      source: { name: "environment" },
      overrides: undefined,
      scope: undefined,
      run: undefined,
      item: undefined,
    });
  }
});

test("an abort listener on builder.signal runs in the context of the lifespan", async () => {
  const seen: unknown[] = [];
  const end = gate();
  const environment = new Environment({
    lifespan: async function* (builder) {
      builder.provide(DB, { name: "own" });
      builder.signal.addEventListener("abort", () => {
        seen.push(useContext(DB).name);
        end.open();
      });
      await end.promise;
      yield;
    },
  });
  environment.start().catch(() => undefined);
  await withContext(DB, { name: "of who stops" }, () => environment.stop());
  expect(seen).toEqual(["own"]);
});

test("a lazy thenable that a closer returns is settled in the context of the environment", async () => {
  const seen: unknown[] = [];
  const environment = new Environment({
    lifespan: async function* (builder) {
      builder.provide(DB, { name: "own" });
      builder.defer(() => ({
        then(resolve) {
          seen.push(useContext(DB).name);
          return Promise.resolve(resolve?.()) as never;
        },
      }));
      yield;
    },
  });
  await environment.start();
  await environment.stop();
  expect(seen).toEqual(["own"]);
});
