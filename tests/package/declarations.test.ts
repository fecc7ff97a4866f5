import { join } from "node:path";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { Consumer } from "../support/consumer.js";
import { ROOT } from "../support/root.js";
import { runNode } from "../support/run-node.js";

jest.setTimeout(120_000); // compiles and starts processes, on machines that may be busy

let consumer: Consumer;

beforeAll(async () => {
  consumer = await Consumer.create();
  await consumer.write(Object.fromEntries(FILES.map((file) => [file, PROGRAM])));
});

afterAll(async () => {
  await consumer.remove();
});

/** One file for each way in which TypeScript reads a module. */
const FILES = ["esm.mts", "cjs.cts", "plain.ts"];

/** Uses every entry, and what needs the types of disposal, which the default library of ES2022 lacks. */
const PROGRAM = `
  import { App, ContextKey, Environment, type Limiter, type RunHandle, fn, map, useContext, withTimeout } from "tidegate";
  import { RateLimiter, type Clock, perMinute } from "tidegate/rate-limit";
  import { ManualClock } from "tidegate/testing";

  const LIMIT = new ContextKey<Limiter>("limit");
  const OWNED = new ContextKey<AsyncDisposable>("owned");
  let closed = 0;
  const clock: Clock = new ManualClock();
  const environment = new Environment({
    clock,
    lifespan: async function* (builder) {
      builder.provide(LIMIT, new RateLimiter({ maxRowsPerSecond: perMinute(600), clock }));
      await builder.provideWith(OWNED, Promise.resolve({ async [Symbol.asyncDispose]() { closed += 1; } }));
      yield;
    },
  });

  const double = fn(async function double(n: number): Promise<number> {
    await useContext(LIMIT).acquire();
    return n * 2;
  });
  const app = new App({ name: "doubles", environment }, (items: number[]) => map(double, items), [1, 2, 3]);

  async function use(): Promise<readonly unknown[]> {
    await using _started = environment;
    using single = new RateLimiter({ maxRowsPerSecond: 1, clock });
    await using running: RunHandle<number[]> = app.run();
    const results: number[] = await withTimeout(60_000, () => running);
    return [results, single.tryAcquire(), single.tryAcquire()];
  }
  void use().then((seen) => { console.log(JSON.stringify([...seen, closed])); });

  // @ts-expect-error -- the types are there and strict: a rate is a number
  export const refused = () => new RateLimiter({ maxRowsPerSecond: "50" });
`;

// No types of Node, the library that ES2022 brings, and every declaration of the package is checked.
const OPTIONS = { strict: true, target: "ES2022", types: [], skipLibCheck: false, outDir: "out" };

test.each([
  ["nodenext", { module: "nodenext", moduleResolution: "nodenext" }],
  ["bundler", { module: "esnext", moduleResolution: "bundler" }],
])(
  "a TypeScript user with moduleResolution %s compiles against the package, and the result runs",
  async (name, resolution) => {
    const config = { compilerOptions: { ...OPTIONS, ...resolution, outDir: name }, files: FILES };
    await consumer.write({ [`${name}.json`]: JSON.stringify(config) });
    const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
    expect(await runNode([compiler, "-p", `${name}.json`], consumer.folder)).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });

    const runnable = name === "nodenext" ? ["esm.mjs", "cjs.cjs"] : ["esm.mjs"];
    for (const file of runnable) {
      const { stdout, stderr } = await runNode([join(name, file)], consumer.folder);
      expect(stderr).toBe("");
      expect(JSON.parse(stdout)).toEqual([[2, 4, 6], true, false, 1]);
    }
  },
);
