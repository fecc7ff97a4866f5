import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import {
  App,
  batched,
  BatchResultError,
  ContextKey,
  DeadlineExceededError,
  DuplicateProvideError,
  Environment,
  EnvironmentStateError,
  type ErrorCode,
  InvalidArgumentError,
  isTidegateError,
  KeyedRateLimiter,
  KeyLimitError,
  LifespanError,
  LimiterClosedError,
  map,
  MissingContextError,
  NoEnvironmentError,
  PermitUsedError,
  QueueFullError,
  RateBudget,
  RateLimiter,
  RetryWithSmallerBatch,
  RunAbortedError,
  TidegateError,
  useContext,
  WaitTooLongError,
  withTimeout,
} from "tidegate";
import { RedisRateLimiter, StoreUnavailableError } from "tidegate/redis";
import { ManualClock } from "tidegate/testing";
import { ROOT } from "../support/root.js";
import { readDocument } from "../support/samples-documents.js";
import { parseMarkdown } from "../support/samples-markdown.js";

interface Case {
  /** The class that carries the code, and what the package calls it. */
  readonly type: abstract new (...args: never[]) => TidegateError;
  readonly provoke: () => unknown;
  /** Facts that the error must carry, by field. */
  readonly fields: Record<string, unknown>;
  /** What the message must name: the option, key, limiter or environment that it is about. */
  readonly names: RegExp;
  /** What the message must say that one can do. */
  readonly remedy: RegExp;
}

const DB = new ContextKey<string>("db");

function busyLimiter(maxQueue = Infinity): RateLimiter {
  const clock = new ManualClock();
  return new RateLimiter({ maxRowsPerSecond: 2, name: "search", initialTokens: 0, maxQueue, clock });
}

async function running(): Promise<Environment> {
  return new Environment({
    name: "web",
    lifespan: function* (builder) {
      builder.provide(new ContextKey<string>("region"), "north");
      yield;
    },
  }).start();
}

// A record by code, so that the type checker asks for a case for every new one.
const CASES: Record<ErrorCode, Case> = {
  ARGUMENT_INVALID: {
    type: InvalidArgumentError,
    provoke: () => new RateLimiter({ maxRowsPerSecond: -1 }),
    fields: { option: "maxRowsPerSecond", received: -1 },
    names: /"maxRowsPerSecond"/,
    remedy: /must be a number above 0/,
  },
  QUEUE_FULL: {
    type: QueueFullError,
    provoke: () => busyLimiter(0).acquire(),
    fields: { limiter: "search", maxQueue: 0 },
    names: /Limiter "search"/,
    remedy: /raise maxQueue/,
  },
  WAIT_TOO_LONG: {
    type: WaitTooLongError,
    provoke: () => busyLimiter().acquire(1, { maxWaitMs: 100 }),
    fields: { limiter: "search", estimatedWaitMs: 500, maxWaitMs: 100 },
    names: /Limiter "search"/,
    remedy: /Call again in 500 ms/,
  },
  LIMITER_CLOSED: {
    type: LimiterClosedError,
    provoke: () => {
      const limiter = busyLimiter();
      limiter.close("night");
      return limiter.acquire();
    },
    fields: { limiter: "search", cause: "night" },
    names: /Limiter "search"/,
    remedy: /Make a new one/,
  },
  PERMIT_USED: {
    type: PermitUsedError,
    provoke: () => {
      const budget = new RateBudget({ tokens: { maxRowsPerSecond: 1 } }, { name: "llm" });
      const permit = budget.tryAcquire({ tokens: 1 });
      permit?.settle({ tokens: 1 });
      permit?.refund();
    },
    fields: { limiter: "llm" },
    names: /budget "llm"/,
    remedy: /Keep it in one place/,
  },
  KEY_LIMIT: {
    type: KeyLimitError,
    provoke: () => {
      const keyed = new KeyedRateLimiter<string>({ maxRowsPerSecond: 1, maxKeys: 1, name: "tenants" });
      keyed.tryAcquire("ada");
      return keyed.acquire("bob");
    },
    fields: { limiter: "tenants", maxKeys: 1 },
    names: /Keyed limiter "tenants"/,
    remedy: /raise maxKeys/,
  },
  STORE_UNAVAILABLE: {
    type: StoreUnavailableError,
    provoke: () =>
      new RedisRateLimiter({
        client: () => Promise.reject(new Error("refused")),
        name: "search",
        maxRowsPerSecond: 1,
        onStoreError: "throw",
      }).acquire(),
    fields: { limiter: "search", isUnanswered: false, cause: new Error("refused") },
    names: /limiter "search" has failed/,
    remedy: /set onStoreError/,
  },
  CONTEXT_MISSING: {
    type: MissingContextError,
    provoke: async () => (await running()).run(() => useContext(DB)),
    fields: { key: "db", environment: "web", state: "running", provided: ["region"] },
    names: /key "db".*environment "web" \(running\).*region/,
    remedy: /withContext\(key, value, body\)/,
  },
  ENVIRONMENT_MISSING: {
    type: NoEnvironmentError,
    provoke: () => useContext(DB),
    fields: { key: "db" },
    names: /key "db"/,
    remedy: /environment\.run\(body\).*bindContext\(callback\)/,
  },
  PROVIDE_DUPLICATE: {
    type: DuplicateProvideError,
    provoke: () =>
      new Environment({
        name: "web",
        lifespan: function* (builder) {
          builder.provide(DB, "first");
          builder.provide(DB, "second");
          yield;
        },
      }).start(),
    fields: { key: "db", environment: "web" },
    names: /key "db".*environment "web"/,
    remedy: /environment\.child\(/,
  },
  LIFESPAN_INVALID: {
    type: LifespanError,
    provoke: () =>
      new Environment({
        name: "web",
        lifespan: function* services() {
          return;
        },
      }).start(),
    fields: { environment: "web" },
    names: /services.*environment "web"/,
    remedy: /Did you forget the yield/,
  },
  ENVIRONMENT_STATE: {
    type: EnvironmentStateError,
    provoke: () => new Environment({ name: "web" }).run(() => "too early"),
    fields: { environment: "web", state: "idle" },
    names: /Environment "web" is idle/,
    remedy: /await environment\.start\(\) first/,
  },
  DEADLINE_EXCEEDED: {
    type: DeadlineExceededError,
    provoke: async () => {
      const clock = new ManualClock();
      const environment = await new Environment({ clock }).start();
      const never = new Promise<void>((resolve) => clock.schedule(60_000, resolve));
      const call = environment.run(() => withTimeout(250, () => never)).catch((error: unknown) => error);
      await clock.advance(250);
      throw await call;
    },
    fields: { timeoutMs: 250 },
    names: /250 ms/,
    remedy: /withTimeout\(ms, body\).*useSignal\(\)/,
  },
  RUN_ABORTED: {
    type: RunAbortedError,
    provoke: async () => {
      const app = new App({ name: "crawl", environment: await running() }, async () => Promise.resolve());
      const run = app.run();
      run.abort();
      await run;
    },
    fields: {},
    names: /run/,
    remedy: /abort/,
  },
  BATCH_TOO_LARGE: {
    type: RetryWithSmallerBatch,
    provoke: () => batched({ maxBatchSize: 1 }, () => Promise.reject(new RetryWithSmallerBatch()))("item"),
    fields: {},
    names: /single item/,
    remedy: /make the item smaller.*with a cause/,
  },
  BATCH_INVALID: {
    type: BatchResultError,
    provoke: () => batched({ maxBatchSize: 1, name: "embed" }, () => [])("item"),
    fields: { batched: "embed", expected: 1, received: 0 },
    names: /"embed".*an array of 0/,
    remedy: /one result for each item.*Promise\.reject\(error\)/,
  },
};
const codes = Object.keys(CASES) as ErrorCode[];

async function errorOf(provoke: () => unknown): Promise<unknown> {
  try {
    await provoke();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

describe("docs/errors.md", () => {
  const { headings } = parseMarkdown(readDocument("docs/errors.md").text);
  const headed = headings.filter(({ level }) => level === 2).map(({ text }) => text);

  test("has a heading for each code, in the order of src/errors.ts, and no other", () => {
    expect(headed).toEqual(codesInSource());
  });

  test("is checked by a case for each code", () => {
    expect([...codes].sort()).toEqual(codesInSource().sort());
  });

  test.each(codes)("%s: the section names the class and every field", (code) => {
    const section = sectionOf(code);
    expect(section).toContain(`\`${CASES[code].type.name}\`:`);
    expect(section).toContain("What to do: ");
    expect(section).toContain("```ts");
    for (const field of Object.keys(CASES[code].fields)) expect(section).toContain(`\`${field}\``);
  });
});

describe.each(codes)("%s", (code) => {
  const { type, provoke, fields, names, remedy } = CASES[code];

  test("is thrown, and can be told from others", async () => {
    const error = (await errorOf(provoke)) as TidegateError;
    expect(error).toBeInstanceOf(type);
    expect(error).toBeInstanceOf(TidegateError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ code, name: type.name, ...fields });
    expect(isTidegateError(error, code)).toBe(true);
    expect(codes.filter((other) => isTidegateError(error, other))).toEqual([code]);
  });

  test("says in its message what it is about and what can be done", async () => {
    const { message } = (await errorOf(provoke)) as TidegateError;
    expect(message).toMatch(names);
    expect(message).toMatch(remedy);
  });
});

test("RUN_ABORTED: an acquire released by the failure of a sibling carries that failure as cause", async () => {
  const limiter = busyLimiter();
  const failure = new Error("page 2 is broken");
  let released: unknown;
  const read = async (page: number): Promise<void> => {
    if (page === 2) throw failure;
    await limiter.acquire().catch((error: unknown) => {
      released = error;
    });
  };
  await expect(map(read, [1, 2])).rejects.toBe(failure);
  expect(isTidegateError(released, "RUN_ABORTED") && released.cause).toBe(failure);
});

test("isTidegateError is false for what others throw", () => {
  for (const other of [new Error("no"), { code: "QUEUE_FULL" }, "QUEUE_FULL", null, undefined]) {
    expect(isTidegateError(other)).toBe(false);
    expect(other instanceof TidegateError).toBe(false);
  }
});

/** The members of the type ErrorCode, which exists for the type checker only. */
function codesInSource(): string[] {
  const source = readFileSync(join(ROOT, "src/errors.ts"), "utf8");
  const union = /export type ErrorCode =([^;]*);/.exec(source)?.[1] ?? "";
  return [...union.matchAll(/"([A-Z_]+)"/g)].map(([, code]) => code as string);
}

function sectionOf(code: string): string {
  const { text } = readDocument("docs/errors.md");
  return text.split(/^## /m).find((section) => section.startsWith(`${code}\n`)) ?? "";
}
