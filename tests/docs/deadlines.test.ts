import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  App,
  batched,
  bindContext,
  ContextKey,
  Environment,
  fn,
  map,
  mapStream,
  mount,
  mountEach,
  useContext,
  useSignal,
  withExceptionHandler,
  withTimeout,
} from "tidegate";
import { ManualClock } from "tidegate/testing";
import { gate } from "../support/gate.js";
import { readDocument } from "../support/samples-documents.js";

const LIMIT_MS = 50;
const LAZY = new ContextKey<AbortSignal>("lazy");
const clock = new ManualClock();
const environment = new Environment({
  name: "deadlines",
  clock,
  lifespan: function* (builder) {
    builder.provideLazy(LAZY, useSignal);
    yield;
  },
});
beforeAll(() => environment.start());
afterAll(() => environment.stop());

/** The signal that some code has, and what lets that code end. */
interface Look {
  signal: AbortSignal | undefined;
  readonly over: Promise<void>;
}

type Situation = (look: Look) => unknown;

/** Notes the signal of the calling code, which then waits for the end. */
const wait = async (look: Look): Promise<void> => {
  look.signal = useSignal();
  await look.over;
};

/** Each row of the table, with code inside a time limit that takes the signal which it has there. */
const SITUATIONS: Readonly<Record<string, Situation>> = {
  "Functions called, code after an `await`, timers": async (look) => {
    await Promise.resolve();
    await fn(wait)(look);
  },
  "A longer time limit inside": (look) => withTimeout(1_000, () => wait(look)),
  "Items of `map` and `mapStream`": async (look) => {
    for await (const _ of mapStream(() => map(() => wait(look), [1]), [1]));
  },
  "`app.run()` and `environment.run()` inside": (look) =>
    new App({ name: "inner", environment }, () => environment.run(() => wait(look))).run().result(),
  "A function bound with `bindContext`": (look) => {
    const bound = bindContext(() => wait(look));
    return environment.run(() => bound());
  },
  "The caller of a `batched` function": async (look) => {
    const ended = new AbortController();
    look.signal = ended.signal;
    const body = (items: number[]): Promise<number[]> => look.over.then(() => items);
    await batched(
      { maxBatchSize: 1 },
      body,
    )(1).catch(() => {
      ended.abort();
    });
  },
  "The body of a `batched` function": (look) =>
    batched({ maxBatchSize: 1 }, async (items: number[]) => {
      await wait(look);
      return items;
    })(1),
  "The source that `mountEach` reads": (look) =>
    mountEach(
      () => undefined,
      (async function* (): AsyncGenerator<readonly [number, number]> {
        await wait(look);
        yield [1, 1];
      })(),
    ),
  "What was mounted": (look) => mount(wait, look),
  "An exception handler of what was mounted": (look) =>
    withExceptionHandler(
      () => wait(look),
      () => mount(() => Promise.reject(new Error("failed"))),
    ),
  "A value of `provideLazy`, when it is made": (look) => {
    look.signal = useContext(LAZY);
    return look.over;
  },
};

const rows = [
  ...readDocument("docs/guides/cancellation.md").text.matchAll(/^\| ([^|]+?) +\| (yes|no) +\|$/gm),
];

test("the table of the page has these rows", () => {
  expect(rows.map(([, situation]) => situation)).toEqual(Object.keys(SITUATIONS));
});

test.each(rows.map(([, situation = "", bounded]) => [situation, bounded]))(
  "%s: %s",
  async (situation, bounded) => {
    const door = gate();
    const look: Look = { signal: undefined, over: door.promise };
    const run = new App({ name: "outer", environment }, () =>
      withTimeout(LIMIT_MS, () => SITUATIONS[situation ?? ""]?.(look)),
    ).run();
    const over = run.result().catch(() => undefined);
    await clock.advance(LIMIT_MS - 1);
    expect(look.signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(look.signal?.aborted).toBe(bounded === "yes");
    door.open();
    await over;
  },
);
