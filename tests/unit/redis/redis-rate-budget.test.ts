import { beforeEach, describe, expect, test } from "@jest/globals";
import { App, type Budget, ContextKey, Environment, fn, lifespan, RateBudget } from "../../../src/index.js";
import { RedisRateBudget, type RedisRateBudgetOptions } from "../../../src/redis/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { FakeRedis } from "../../support/redis-fake-store.js";

type Dimension = "requests" | "tokens";

let clock: ManualClock;
let redis: FakeRedis;

beforeEach(async () => {
  clock = new ManualClock();
  await clock.advance(1000);
  redis = new FakeRedis(clock);
});

/** 10 requests and 1,000 tokens a second, no burst of requests. */
function budgetOf(options: Partial<RedisRateBudgetOptions<Dimension>> = {}): RedisRateBudget<Dimension> {
  return new RedisRateBudget(
    { requests: { maxRowsPerSecond: 10, burstWindowSecs: 0 }, tokens: { maxRowsPerSecond: 1000 } },
    { client: redis.send, name: "model", clock, ...options },
  );
}

async function timeOf(call: Promise<unknown>): Promise<number> {
  await call;
  return Math.round((clock.now() - 1000) * 1e6) / 1e6;
}

const commands = (): (string | undefined)[] => redis.done.map(([command]) => command);

test("a call waits for the dimension that is short, and holds those behind it", async () => {
  const budget = budgetOf();
  const times = Promise.all([
    timeOf(budget.acquire({ requests: 1, tokens: 1000 })),
    timeOf(budget.acquire({ requests: 1, tokens: 500 })),
    timeOf(budget.acquire({ requests: 1 })),
    timeOf(budget.acquire({})),
  ]);
  await clock.advance(2000);
  expect(await times).toEqual([0, 500, 600, 0]);
});

test("what one dimension gains while another one is waited for is no more than it holds", async () => {
  const one = budgetOf();
  const other = budgetOf();
  const times: number[] = [];
  const take = (budget: RedisRateBudget<Dimension>, requests: number): void => {
    void budget.acquire({ requests, tokens: 1000 }).then(() => times.push(clock.now() - 1000));
  };
  // The tokens of the second are there long before its requests are.
  take(one, 1);
  take(one, 100);
  await clock.advance(1);
  take(other, 1);
  await clock.advance(20_000);
  expect(times).toEqual([0, 10_000, 11_000]);
});

test("processes share when the name and the dimensions are the same, whatever their order", async () => {
  const one = budgetOf();
  const other = new RedisRateBudget(
    { tokens: { maxRowsPerSecond: 1000 }, requests: { maxRowsPerSecond: 10, burstWindowSecs: 0 } },
    { client: redis.send, name: "model", clock },
  );
  await one.acquire({ tokens: 900 });
  expect((await other.stats()).dimensions).toMatchObject({
    requests: { available: 1, capacity: 1, grantedTokens: 0 },
    tokens: { available: 100, capacity: 1000, grantedTokens: 0 },
  });
  expect(
    one.limiterReport().dimensions.map(({ name, maxRowsPerSecond }) => [name, maxRowsPerSecond]),
  ).toEqual([
    ["requests", 10],
    ["tokens", 1000],
  ]);
});

test("the key says the name and the dimensions, in one slot", async () => {
  const keys: (string | undefined)[] = [];
  const client = (args: string[]): Promise<unknown> => {
    keys.push(args[3]);
    return redis.send(args);
  };
  await budgetOf({ client }).stats();
  await new RedisRateBudget({ "a:b": { maxRowsPerSecond: 1 } }, { client, name: "x", clock }).stats();
  expect(keys).toEqual(["tidegate:{model}:requests:tokens", "tidegate:{x}:a%3Ab"]);
});

describe("permits", () => {
  test("settle gives back what is above and takes what is below, once", async () => {
    const budget = budgetOf();
    const permit = await budget.acquire({ requests: 1, tokens: 800 });
    expect(permit.costs).toEqual({ requests: 1, tokens: 800 });
    await permit.settle({ tokens: 300 });
    expect((await budgetOf().stats()).dimensions.tokens.available).toBe(700);
    expect(() => permit.settle({ tokens: 1 })).toThrow(expect.objectContaining({ code: "PERMIT_USED" }));
    expect(() => permit.refund()).toThrow(expect.objectContaining({ code: "PERMIT_USED" }));
    await clock.advance(1000);
    const second = await budget.acquire({ requests: 1, tokens: 100 });
    // @ts-expect-error -- no such dimension
    expect(() => second.settle({ token: 5 })).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
    await second.settle({ requests: 0, tokens: 1500 });
    const { requests, tokens } = (await budget.stats()).dimensions;
    expect([requests.available, tokens.available]).toEqual([1, -500]);
    await clock.advance(1500);
    const third = await budget.acquire({ tokens: 1000 });
    await third.refund();
    expect((await budget.stats()).dimensions.tokens.available).toBe(1000);
    await (await budget.acquire({ tokens: 7 })).settle({});
    expect(commands().slice(-2)).toEqual(["look", "reserve"]);
  });

  test("nobody is disturbed by a settle that could not be told, and who awaits it is", async () => {
    const permit = await budgetOf().acquire({ tokens: 10 });
    redis.fates = ["refused"];
    await expect(permit.settle({ tokens: 1 })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    redis.fates = [[0, 0]];
    const other = await budgetOf().acquire({ tokens: 10 });
    redis.fates = ["refused"];
    void other.refund(); // an unhandled rejection would fail the run
    await clock.advance(1);
  });
});

test("tryAcquire takes all or nothing, and passes nobody who waits in another process", async () => {
  const budget = budgetOf();
  expect(await budget.tryAcquire({ requests: 2, tokens: 1 })).toBeUndefined();
  expect((await budget.tryAcquire({}))?.costs).toEqual({ requests: 0, tokens: 0 });
  const permit = await budget.tryAcquire({ requests: 1, tokens: 600 });
  expect(permit?.costs).toEqual({ requests: 1, tokens: 600 });
  expect((await budget.stats()).dimensions.tokens).toMatchObject({ available: 400, grantedTokens: 600 });
  const waits = timeOf(budgetOf().acquire({ requests: 1 }));
  await clock.advance(10);
  expect(await budget.tryAcquire({ tokens: 1 })).toBeUndefined();
  await clock.advance(100);
  expect(await waits).toBe(100);
});

test("a new rate of one dimension leaves the others, for all processes", async () => {
  const budget = budgetOf();
  await budget.setRate({ tokens: { maxRowsPerSecond: 50 } });
  const [other] = [budgetOf()];
  const { dimensions } = await other.stats();
  expect([dimensions.requests.capacity, dimensions.tokens.capacity]).toEqual([1, 50]);
  await expect(budget.setRate({ tokens: { maxRowsPerSecond: 0 } })).rejects.toThrow(
    "tokens.maxRowsPerSecond",
  );
  const set = new RedisRateBudget(
    { requests: { maxRowsPerSecond: 99 }, tokens: { maxRowsPerSecond: 99 } },
    { client: redis.send, name: "model", clock },
  );
  const { requests, tokens } = (await set.stats()).dimensions;
  expect([requests.capacity, tokens.capacity]).toEqual([99, 50]);
});

test("a pause holds all dimensions, and each has one token at its end", async () => {
  const budget = budgetOf();
  await budget.pause(5000);
  const times = Promise.all([
    timeOf(budget.acquire({ tokens: 1 })),
    timeOf(budget.acquire({ requests: 1, tokens: 100 })),
  ]);
  await clock.advance(10_000);
  expect(await times).toEqual([5000, 5100]);
});

test("a local budget serves while the store is away, and its permits are settled there", async () => {
  redis.fates = ["refused"];
  const local = new RateBudget(
    { requests: { maxRowsPerSecond: 10 }, tokens: { maxRowsPerSecond: 100 } },
    { clock },
  );
  const budget = budgetOf({ onStoreError: local });
  const permit = await budget.acquire({ requests: 1, tokens: 80 });
  expect(local.stats().dimensions.tokens.available).toBe(20);
  await permit.settle({ tokens: 30 });
  expect(local.stats().dimensions.tokens.available).toBe(70);
});

test.each<[string, () => unknown, string]>([
  ["no dimension", () => new RedisRateBudget({}, { client: redis.send, name: "x" }), "dimensions"],
  ["no name", () => budgetOf({ name: "" }), "name"],
  [
    "a rate without a limit",
    () => new RedisRateBudget({ a: { maxRowsPerSecond: Infinity } }, { client: redis.send, name: "x" }),
    "a.maxRowsPerSecond",
  ],
  ["another policy", () => budgetOf({ onStoreError: "open" as "wait" }), "onStoreError"],
])("refused: %s", (_case, make, option) => {
  expect(make).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID", option }));
});

test("in a pipeline it stands where a local one stood: one line of the lifespan", async () => {
  const BUDGET = new ContextKey<Budget<Dimension>>("budget");
  const ask = fn(
    {
      rateLimit: {
        key: BUDGET,
        cost: (prompt: string) => ({ requests: 1, tokens: prompt.length }),
        settle: (answer: string) => ({ tokens: answer.length }),
      },
    },
    (prompt: string) => Promise.resolve(prompt.slice(0, 2)),
  );
  const budgets = [
    budgetOf(),
    new RateBudget({ requests: { maxRowsPerSecond: 10 }, tokens: { maxRowsPerSecond: 1000 } }, { clock }),
  ];
  for (const budget of budgets) {
    const environment = new Environment({
      lifespan: lifespan(async function* (builder) {
        await builder.provideWith(BUDGET, budget);
        yield;
      }),
    });
    const app = new App({ name: "ask", environment }, () => ask("a prompt"));
    expect(await app.run()).toBe("a ");
    await environment.stop();
  }
  expect((await budgetOf().stats()).dimensions.tokens.available).toBe(998);
  expect(budgets[1]?.limiterReport().dimensions[1]?.available).toBe(998);
});
