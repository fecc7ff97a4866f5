import { expect, test } from "@jest/globals";
import { ContextKey } from "../../../src/context/index.js";
import { InvalidArgumentError } from "../../../src/errors.js";
import { Environment } from "../../../src/lifespan/index.js";
import { gate, Resource } from "../../support/lifespan-helpers.js";

test.each<[string, Record<string, unknown>]>([
  ["name", { name: "" }],
  ["name", { name: 7 }],
  ["parent", { parent: {} }],
  ["clock", { clock: {} }],
  ["clock", { clock: null }],
  ["startTimeoutMs", { startTimeoutMs: -1 }],
  ["startTimeoutMs", { startTimeoutMs: NaN }],
  ["drainTimeoutMs", { drainTimeoutMs: "10" }],
  ["drainTimeoutMs", { drainTimeoutMs: 2 ** 31 }],
  ["closeTimeoutMs", { closeTimeoutMs: -Infinity }],
  ["requires", { requires: "db" }],
  ["requires\\[0\\]", { requires: ["db"] }],
])("%s is checked: %j is refused", (option, options) => {
  const make = (): unknown => new Environment(options);
  expect(make).toThrow(InvalidArgumentError);
  expect(make).toThrow(new RegExp(`^"${option}" must be`));
});

test("options must be an object", () => {
  expect(() => new Environment("crawl" as never)).toThrow(/"options" must be an object/);
});

test("describe tells each value, its kind and its state, parents left out", async () => {
  const keys = ["borrowed", "owned", "lazy", "arriving"].map((name) => new ContextKey<unknown>(name)) as [
    ContextKey<unknown>,
    ContextKey<unknown>,
    ContextKey<unknown>,
    ContextKey<unknown>,
  ];
  const [borrowed, owned, lazy] = keys;
  const arriving = keys[3] as ContextKey<Resource>;
  const [arrival, closing] = [gate<Resource>(), gate()];
  const parent = new Environment();
  const environment = new Environment({
    parent,
    lifespan: async function* (builder) {
      builder.provide(borrowed, 1);
      builder.provide(owned, 2, () => undefined);
      builder.defer(() => closing.promise);
      builder.provideLazy(
        lazy,
        () => 3,
        () => undefined,
      );
      await builder.provideWith(arriving, arrival.promise);
      yield;
    },
  });
  const states = (): unknown =>
    environment.describe().map(({ key, kind, state }) => `${key}: ${kind}, ${state}`);
  expect(states()).toEqual([]);
  const start = environment.start();
  await parent.start();
  await new Promise((resolve) => setImmediate(resolve));
  expect(states()).toEqual([
    "borrowed: value, open",
    "owned: owned, open",
    "lazy: lazy, not made",
    "arriving: owned, opening",
  ]);
  arrival.open(new Resource("r", []));
  await start;
  environment.get(lazy);
  expect(states()).toEqual([
    "borrowed: value, open",
    "owned: owned, open",
    "lazy: lazy, open",
    "arriving: owned, open",
  ]);
  expect(parent.describe()).toEqual([]);
  const stop = environment.stop();
  await new Promise((resolve) => setImmediate(resolve));
  expect(states()).toEqual([
    "borrowed: value, open",
    "owned: owned, open",
    "lazy: lazy, closed",
    "arriving: owned, closed",
  ]);
  closing.open();
  await stop;
  expect(states()).toEqual([]);
  await parent.stop();
});
