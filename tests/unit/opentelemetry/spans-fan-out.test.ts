import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ContextKey } from "../../../src/context/index.js";
import { Environment } from "../../../src/lifespan/index.js";
import { instrument } from "../../../src/opentelemetry/index.js";
import { App, batched, fn, map, mapStream } from "../../../src/pipeline/index.js";
import { RateLimiter } from "../../../src/rate-limit/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { errorOf, settle } from "../pipeline/helpers.js";
import { Tracers } from "./support/tracers.js";

let tracers: Tracers;
let clock: ManualClock;
let environment: Environment;
let stop: () => void;

const LIMITER = new ContextKey<RateLimiter>("limiter");

beforeEach(() => {
  tracers = new Tracers();
  clock = new ManualClock();
  environment = new Environment({
    name: "test",
    clock,
    lifespan: function* (builder) {
      builder.provide(LIMITER, new RateLimiter({ maxRowsPerSecond: 1, burstWindowSecs: 0, clock }));
      yield;
    },
  });
  stop = instrument({ tracerProvider: tracers.provider, spans: true });
});
afterEach(async () => {
  stop();
  await environment.stop();
  await tracers.shutdown();
});

const work = fn({ name: "work" }, async (item: string) => {
  await settle();
  tracers.mark(`in ${item}`);
  return item;
});

/** The paths below "app > map" that the spans of `items` have. */
const below = (items: readonly string[], step = "work"): string[] =>
  [
    ...items.map(() => `app > map > ${step}`),
    ...items.map((item) => `app > map > ${step} > in ${item}`),
  ].sort();

const ITEMS = ["a", "b", "c", "d"];

describe("a span of an item of map is below the one around the map", () => {
  test.each([
    ["all at once", {}, undefined],
    ["one at a time", { concurrency: 1 }, undefined],
    ["queued for a slot of the run", {}, 1],
    ["queued for the second slot of the run", {}, 2],
  ])("%s", async (_name, options, concurrency) => {
    const app = new App({ name: "app", environment, concurrency }, () =>
      tracers.inSpan("map", () => map(work, ITEMS, options)),
    );
    expect(await app.run()).toEqual(ITEMS);
    expect(tracers.paths).toEqual(["app", "app > map", ...below(ITEMS)]);
  });

  test("with an async source, and when two maps share one slot", async () => {
    const source = async function* (names: readonly string[]): AsyncGenerator<string> {
      for (const name of names) {
        await settle();
        yield name;
      }
    };
    const app = new App({ name: "app", environment, concurrency: 1 }, () =>
      Promise.all([
        tracers.inSpan("one", () => map(work, source(["a", "b"]))),
        tracers.inSpan("two", () => map(work, ["c", "d"])),
      ]),
    );
    await app.run();
    expect(tracers.paths).toEqual([
      "app",
      ...[
        "app > one",
        ...["app > one > work", "app > one > work"],
        "app > one > work > in a",
        "app > one > work > in b",
      ],
      ...[
        "app > two",
        ...["app > two > work", "app > two > work"],
        "app > two > work > in c",
        "app > two > work > in d",
      ],
    ]);
  });

  test("nested, with one slot that parents give up", async () => {
    const parent = fn({ name: "parent" }, (item: string) => map(work, [`${item}1`, `${item}2`]));
    const app = new App({ name: "app", environment, concurrency: 1 }, () => map(parent, ["a", "b"]));
    await app.run();
    const path = "app > parent > work";
    expect(tracers.paths).toEqual([
      "app",
      ...["app > parent", "app > parent"],
      ...[path, path, path, path],
      ...["a1", "a2", "b1", "b2"].map((item) => `${path} > in ${item}`),
    ]);
  });

  test("with items that wait in line for tokens", async () => {
    const limited = fn({ name: "limited", rateLimit: LIMITER }, work);
    const app = new App({ name: "app", environment }, () => tracers.inSpan("map", () => map(limited, ITEMS)));
    const run = app.run();
    await clock.advance(4_000);
    expect(await run).toEqual(ITEMS);
    const step = "limited > work";
    expect(tracers.paths).toEqual(
      ["app", "app > map", ...ITEMS.map(() => "app > map > limited"), ...below(ITEMS, step)].sort(),
    );
  });

  test("with results that are there at once, also after the event loop had its turn", async () => {
    const quick = fn({ name: "quick" }, (n: number) => {
      const start = performance.now();
      while (n % 32 === 0 && performance.now() < start + 25);
      return n;
    });
    const count = 100;
    const app = new App({ name: "app", environment }, () =>
      tracers.inSpan("map", () => map(quick, Array.from({ length: count }).keys(), { concurrency: 1 })),
    );
    await app.run();
    expect(tracers.paths.filter((path) => path === "app > map > quick")).toHaveLength(count);
  });

  test("of mapStream below the code that made the stream", async () => {
    const app = new App({ name: "app", environment }, async () => {
      const results = await tracers.inSpan("map", () => [mapStream(work, ITEMS, { concurrency: 1 })]);
      return tracers.inSpan("reader", async () => {
        const seen: string[] = [];
        for await (const result of results[0] as AsyncIterable<string>) seen.push(result);
        return seen;
      });
    });
    expect(await app.run()).toEqual(ITEMS);
    expect(tracers.paths).toEqual(["app", "app > map", ...below(ITEMS), "app > reader"]);
  });
});

describe("a call of a batched function", () => {
  test("is a span of each caller; what the body does is below the call that came first", async () => {
    const embed = batched({ maxBatchSize: 2, name: "embed" }, async (items: string[]) => {
      tracers.mark(`batch of ${items.join("")}`);
      await settle();
      return items;
    });
    const app = new App({ name: "app", environment }, () =>
      Promise.all(["a", "b", "c"].map((name) => tracers.inSpan(name, () => embed(name)))),
    );
    expect(await app.run()).toEqual(["a", "b", "c"]);
    expect(tracers.paths).toEqual([
      "app",
      ...["app > a", "app > a > embed", "app > a > embed > batch of ab"],
      ...["app > b", "app > b > embed"],
      ...["app > c", "app > c > embed", "app > c > embed > batch of c"],
    ]);
    expect(tracers.spans.find(({ name }) => name === "embed")?.attributes).toEqual({
      "tidegate.function": "embed",
    });
  });

  test("fails by itself", async () => {
    const embed = batched({ maxBatchSize: 2 }, function embed(items: string[]) {
      return items.map((item) => (item === "b" ? Promise.reject(new Error("no b")) : Promise.resolve(item)));
    });
    const [a, b] = [embed("a"), embed("b")];
    expect(await errorOf(b)).toEqual(new Error("no b"));
    expect(await a).toBe("a");
    const failed = tracers.spans.map(({ events }) => events.length);
    expect(failed.sort()).toEqual([0, 1]);
  });
});
