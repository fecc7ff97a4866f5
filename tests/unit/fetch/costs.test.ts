import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { ContextKey, withContext } from "../../../src/context/index.js";
import { type LimitFetchOptions, limitFetch } from "../../../src/fetch/index.js";
import { RateBudget, type RateLimiter } from "../../../src/rate-limit/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { ok, reasonOf, refusal, serverOf, setUp, URL_OF_IT } from "./support/set-up.js";

let warned: jest.SpiedFunction<typeof process.emitWarning>;

beforeEach(() => {
  warned = jest.spyOn(process, "emitWarning").mockImplementation(() => undefined);
});

afterEach(() => {
  jest.restoreAllMocks();
});

type Options = LimitFetchOptions<RateLimiter>;

/** Tokens that are gone after one call. */
async function spent(options: Options, answer: () => Response = () => ok('{"used":7}')): Promise<number> {
  const { limiter, fetch } = setUp(answer, options);
  await fetch(URL_OF_IT, { method: "POST", body: '{"max":20}', headers: { "x-weight": "4" } });
  return 1_000 - limiter.stats().available;
}

describe("cost", () => {
  test.each<[string, Options["cost"], number]>([
    ["1 unless told", undefined, 1],
    ["a number", 3, 3],
    ["a function of the body", async (request) => ((await request.json()) as { max: number }).max, 20],
    ["a function of the text", async (request) => (await request.text()).length, 10],
    ["a function of the headers", ({ headers }) => Number(headers.get("x-weight")), 4],
    ["a function of method and URL", ({ method, url }) => method.length + url.length, 4 + URL_OF_IT.length],
  ])("%s", async (_, cost, tokens) => {
    expect(await spent({ cost })).toBe(tokens);
  });

  test("of a Request is read from a copy", async () => {
    const bodies: string[] = [];
    const { fetch } = setUp(
      async (_, input) => {
        bodies.push(await (input as Request).text());
        return ok();
      },
      { cost: async (request) => ((await request.json()) as { max: number }).max },
    );
    await fetch(new Request(URL_OF_IT, { method: "POST", body: '{"max":5}' }));
    expect(bodies).toEqual(['{"max":5}']);
  });

  test("of a stream, or without a body, sees no body", async () => {
    const seen: unknown[] = [];
    const { fetch } = setUp(() => ok(), {
      cost: async (request) => seen.push(await request.text(), await request.json()),
    });
    await fetch(URL_OF_IT, {
      ...{ method: "POST", duplex: "half" },
      body: new ReadableStream(),
    });
    await fetch(URL_OF_IT);
    await fetch(new Request(URL_OF_IT));
    expect(seen).toEqual(["", undefined, "", undefined, "", undefined]);
  });

  test("is asked once, and taken for each sending", async () => {
    const cost = jest.fn(() => 5);
    const { clock, limiter, call } = setUp(
      (count) => (count === 1 ? refusal({ "retry-after": "1" }) : ok()),
      {
        cost,
      },
    );
    call("a");
    await clock.advance(2_000);
    expect(cost).toHaveBeenCalledTimes(1);
    expect(limiter.stats().grantedTokens).toBe(10);
  });

  test.each([-1, 0.5, NaN, Infinity, "1", undefined, null])(
    "that gives %p spends and sends nothing",
    async (cost) => {
      const { limiter, sent, fetch } = setUp(() => ok(), { cost: () => cost as number });
      expect(await reasonOf(fetch(URL_OF_IT))).toMatchObject({ code: "ARGUMENT_INVALID", option: "cost" });
      expect([sent, limiter.stats().granted]).toEqual([[], 0]);
    },
  );

  test.each([
    [
      "throws",
      () => {
        throw new Error("of cost");
      },
    ],
    ["rejects", () => Promise.reject(new Error("of cost"))],
  ])("that %s spends and sends nothing", async (_, cost) => {
    const { limiter, sent, fetch } = setUp(() => ok(), { cost: cost as () => Promise<number> });
    expect(await reasonOf(fetch(URL_OF_IT))).toEqual(new Error("of cost"));
    expect([sent, limiter.stats().granted]).toEqual([[], 0]);
  });
});

describe("settle", () => {
  const used: Options["settle"] = async (answer) => ((await answer.json()) as { used: number }).used;

  test.each<[string, Options, number]>([
    ["gives back", { cost: 20, settle: used }, 7],
    ["charges", { cost: 2, settle: used }, 7],
    ["leaves the estimate when it gives undefined", { cost: 20, settle: () => undefined }, 20],
    ["sees the request", { cost: 20, settle: async (_, request) => (await request.text()).length }, 10],
    [
      "sees the headers",
      { cost: 20, settle: (answer) => Number(answer.headers.get("content-length") ?? 9) },
      9,
    ],
  ])("%s", async (_, options, tokens) => {
    expect(await spent(options)).toBe(tokens);
    expect(warned).not.toHaveBeenCalled();
  });

  test.each<[string, Options["settle"]]>([
    [
      "throws",
      () => {
        throw new Error("of settle");
      },
    ],
    ["rejects", () => Promise.reject(new Error("of settle"))],
    ["gives nonsense", () => NaN],
    ["gives a negative", () => -1],
  ])("that %s leaves the estimate and the answer, with a warning", async (_, settle) => {
    const { limiter, fetch } = setUp(() => ok("answer"), { cost: 20, settle });
    const response = await fetch(URL_OF_IT);
    expect(await response.text()).toBe("answer");
    expect(1_000 - limiter.stats().available).toBe(20);
    expect(warned).toHaveBeenCalledTimes(1);
    expect(warned).toHaveBeenCalledWith(expect.stringContaining("settle"), {
      type: "TidegateWarning",
      code: "TIDEGATE_SETTLE_FAILED",
    });
  });

  test.each([400, 404, 500, 301])("is not asked for status %i", async (status) => {
    const settle = jest.fn(() => 1);
    expect(await spent({ cost: 20, settle }, () => new Response(null, { status }))).toBe(20);
    expect(settle).not.toHaveBeenCalled();
  });

  test("may read a large answer, which the caller gets whole", async () => {
    const body = "x".repeat(2_000_000);
    const { fetch } = setUp(() => ok(body), { settle: async (answer) => (await answer.text()).length });
    expect(await (await fetch(URL_OF_IT)).text()).toBe(body);
  });
});

describe("a budget", () => {
  function budgetOf(options: LimitFetchOptions<RateBudget<"requests" | "tokens">>): {
    budget: RateBudget<"requests" | "tokens">;
    fetch: typeof globalThis.fetch;
    sent: string[];
  } {
    const clock = new ManualClock();
    const budget = new RateBudget(
      { requests: { maxRowsPerSecond: 10 }, tokens: { maxRowsPerSecond: 100 } },
      { clock },
    );
    const { fetch, sent } = serverOf(() => ok('{"used":30}'), clock);
    return { budget, sent, fetch: limitFetch(budget, { fetch, ...options }) };
  }

  test("takes requests and an estimate of tokens, and is settled from the answer", async () => {
    const { budget, fetch } = budgetOf({
      cost: async (request) => ({ requests: 1, tokens: (await request.text()).length }),
      settle: async (answer) => ({ tokens: ((await answer.json()) as { used: number }).used }),
    });
    await fetch(URL_OF_IT, { method: "POST", body: "x".repeat(50) });
    const { requests, tokens } = budget.stats().dimensions;
    expect([requests.available, tokens.available]).toEqual([9, 70]);
  });

  test.each<[string, unknown]>([
    ["a number", 1],
    ["another dimension", { words: 1 }],
    ["tokens that cannot be", { tokens: -1 }],
  ])("with %s is an error, and nothing is spent or sent", async (_, cost) => {
    const { budget, fetch, sent } = budgetOf({ cost: cost as never });
    expect(await reasonOf(fetch(URL_OF_IT))).toMatchObject({ code: "ARGUMENT_INVALID" });
    expect(sent).toEqual([]);
    expect(budget.stats().granted).toBe(0);
  });

  test("without a cost is refused when the fetch is made, and behind a key at the call; it says what of", async () => {
    const problem = {
      code: "ARGUMENT_INVALID",
      option: "cost",
      message: expect.stringContaining("what a request costs of requests, tokens"),
    };
    expect(() => budgetOf({})).toThrow(expect.objectContaining(problem));
    const { budget } = budgetOf({ cost: { requests: 1 } });
    const KEY = new ContextKey<typeof budget>("costs/budget");
    const limited = withContext(KEY, budget, () => limitFetch(KEY)(URL_OF_IT));
    expect(await reasonOf(limited)).toMatchObject(problem);
    expect(budget.stats().granted).toBe(0);
  });

  test("is settled no further than its dimensions go, with a warning", async () => {
    const { budget, fetch } = budgetOf({ cost: { tokens: 50 }, settle: () => ({ words: 1 }) as never });
    expect((await fetch(URL_OF_IT)).status).toBe(200);
    expect(budget.stats().dimensions.tokens.available).toBe(50);
    expect(warned).toHaveBeenCalledTimes(1);
  });
});
