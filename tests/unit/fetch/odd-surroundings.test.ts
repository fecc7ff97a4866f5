import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { limitFetch, type PausableLimiter } from "../../../src/fetch/index.js";
import { type RateBudget, RateLimiter } from "../../../src/rate-limit/index.js";
import { inRun, ok, reasonOf, refusal, setUp, URL_OF_IT } from "./support/set-up.js";

// Odd inputs and answers: bodies, streams, headers and callbacks that a plain client never has.

let warned: jest.SpiedFunction<typeof process.emitWarning>;

beforeEach(() => {
  warned = jest.spyOn(process, "emitWarning").mockImplementation(() => undefined);
});

afterEach(() => {
  jest.restoreAllMocks();
});

describe("waits without a hint", () => {
  test("stay random at the cap, so that those refused together do not come back together", async () => {
    const random = jest.spyOn(Math, "random").mockReturnValue(0.5);
    const options = { feedback: { maxPauseMs: 1_000 }, retry: { retries: 3, backoffMs: 100_000 } };
    const { clock, sent, call } = setUp(() => refusal(), options);
    call("a");
    await clock.advance(500);
    random.mockReturnValue(0.25);
    await clock.advance(10_000);
    // The second pause was drawn at t500, before the change.
    expect(sent).toEqual(["a t0", "a t500", "a t1000", "a t1250"]);
  });

  test("stay numbers for whatever backoff", async () => {
    jest.spyOn(Math, "random").mockReturnValue(0);
    const { clock, sent, call } = setUp(() => refusal(), { retry: { retries: 2, backoffMs: 1e308 } });
    call("a");
    await clock.advance(10);
    expect(sent).toHaveLength(3);
  });
});

test("fetch is called as a function: that of browsers must not be a method of something else", async () => {
  let receiver: unknown = "not called";
  function native(this: unknown): Promise<Response> {
    receiver = (() => this)();
    return Promise.resolve(ok());
  }
  const { fetch } = setUp(() => ok(), { fetch: native });
  await fetch(URL_OF_IT);
  expect(receiver).toBeUndefined();
});

test("the methods that may be sent again are found in small letters too", async () => {
  const { clock, sent, call } = setUp((count) => (count === 1 ? refusal({ "retry-after": "1" }) : ok()), {
    retry: { methods: ["post"] },
  });
  call("a", { method: "Post" });
  await clock.advance(1_000);
  expect(sent).toEqual(["a t0", "a t1000"]);
});

test("the body of a refused answer may be a stream of Node, which cannot be cancelled", async () => {
  const { clock, trace, call } = setUp((count) => {
    if (count > 1) return ok();
    return {
      status: 429,
      headers: new Headers({ "retry-after": "1" }),
      body: { pipe: () => undefined },
    } as never;
  });
  call("a");
  await clock.advance(1_000);
  expect(trace.events).toEqual(["a t1000"]);
});

describe("settle does not see a stream of events", () => {
  test.each(["Text/Event-Stream; charset=utf-8", "application/x-ndjson", "application/jsonl"])(
    "of type %s",
    async (type) => {
      const settle = jest.fn(() => 1);
      const { fetch } = setUp(() => ok("{}", { "content-type": type }), { settle });
      await fetch(URL_OF_IT);
      expect(settle).not.toHaveBeenCalled();
    },
  );
});

test("isShared that fails keeps nobody from the answer, and a refusal is shared unless told", async () => {
  const { limiter, fetch } = setUp(() => refusal({ "retry-after": "1" }), {
    retry: false,
    // The 429 of a proxy is no JSON.
    feedback: { isShared: async (answer) => (await answer.json()) !== null },
  });
  const response = await fetch(URL_OF_IT);
  expect(response.status).toBe(429);
  expect(limiter.stats().pausedForMs).toBe(1_000);
  expect(warned).toHaveBeenCalledWith(expect.stringContaining("isShared"), {
    type: "TidegateWarning",
    code: "TIDEGATE_IS_SHARED_FAILED",
  });
});

test("a success from a cache is no evidence that the server serves others", async () => {
  const { clock, limiter, sent, call } = setUp((_, input) => {
    if (!(input as string).endsWith("cached")) return refusal({ "retry-after": "1" });
    return ok("old", { age: "12" });
  });
  call("a");
  await clock.advance(500);
  call("cached");
  await clock.advance(1_501);
  expect(sent).toEqual(["a t0", "a t1000", "cached t2000", "a t2001"]);
  expect(limiter.stats().pausedForMs).toBe(1_000);
});

test("a request that costs nothing waits by itself: no pause of the limiter holds it", async () => {
  const { clock, limiter, sent, call } = setUp(() => refusal({ "retry-after": "1" }), { cost: 0 });
  await inRun(clock, async () => {
    call("a");
    await clock.advance(1_000);
    expect(sent).toEqual(["a t0", "a t1000"]);
    expect(limiter.stats().pausedForMs).toBe(0);
    await clock.advance(1_000);
  });
});

test("a Request that was used can be sent with a body of its own", async () => {
  const request = new Request(URL_OF_IT, { method: "PUT", body: "used" });
  await request.text();
  const { fetch, sent } = setUp(() => ok());
  await fetch(request, { body: "new" });
  expect(sent).toEqual(["t0"]);
});

test("an input that is no string is read as one, as fetch does it", async () => {
  const urls: string[] = [];
  const { fetch } = setUp(() => ok(), { cost: ({ url }) => urls.push(url) });
  await fetch({ toString: () => URL_OF_IT } as unknown as URL);
  expect(urls).toEqual([URL_OF_IT]);
});

test.each([-1, 0.5, NaN, "1", null])("a fixed cost of %p is refused when the fetch is made", (cost) => {
  const limiter = new RateLimiter({ maxRowsPerSecond: 1 });
  expect(() => limitFetch(limiter, { cost: cost as number })).toThrow('"cost" must be');
});

describe("errors name options that limitFetch has", () => {
  test("a limiter that takes no corrections, with settle", async () => {
    const limiter: PausableLimiter = { acquire: () => Promise.resolve(), pause: () => undefined };
    const limited = limitFetch(limiter, { fetch: () => Promise.resolve(ok()), settle: () => 1 });
    expect(await reasonOf(limited(URL_OF_IT))).toMatchObject({ code: "ARGUMENT_INVALID", option: "limiter" });
  });

  test("a limiter whose permits cannot be settled", async () => {
    const limiter = {
      acquire: () => Promise.resolve(),
      pause: () => undefined,
    } as unknown as RateBudget<"a">;
    const limited = limitFetch(limiter, {
      fetch: () => Promise.resolve(ok()),
      cost: { a: 1 },
      settle: () => ({ a: 2 }),
    });
    expect(await reasonOf(limited(URL_OF_IT))).toMatchObject({ code: "ARGUMENT_INVALID", option: "limiter" });
  });
});
