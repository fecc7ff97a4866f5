/** One file for each way in which TypeScript reads a module. */
export const CONSUMER_FILES = ["esm.mts", "cjs.cts", "plain.ts"];

/** Uses every entry, and what needs the types of disposal, which the default library of ES2022 lacks. */
export const CONSUMER_PROGRAM = `
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

/** No types of Node, the library that ES2022 brings, and every declaration of the package is checked. */
export const CONSUMER_OPTIONS = { strict: true, target: "ES2022", types: [], skipLibCheck: false };

/** The ways in which it looks for a package. */
export const CONSUMER_RESOLUTIONS = {
  nodenext: { module: "nodenext", moduleResolution: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
};
