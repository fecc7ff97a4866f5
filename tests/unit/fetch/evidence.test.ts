import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { limitFetch } from "../../../src/fetch/index.js";
import { inRun, ok, refusal, setUp, URL_OF_IT } from "./support/set-up.js";

// Refusals that are not about the budget: the call waits by itself, and holds up nobody.

beforeEach(() => {
  jest.spyOn(Math, "random").mockReturnValue(1);
});

afterEach(() => {
  jest.restoreAllMocks();
});

describe("the call waits by itself", () => {
  test.each([
    ["isShared says so", { feedback: { isShared: () => false } }, {}],
    ["isShared says so later", { feedback: { isShared: () => Promise.resolve(false) } }, {}],
    ["feedback is off", { feedback: false as const }, {}],
    ["the answer comes from a cache", {}, { age: "30" }],
    ["the answer comes from two caches", {}, { age: "30, 31" }],
  ])("when %s", async (_, options, headers: Record<string, string>) => {
    const { clock, limiter, sent, call } = setUp(
      (count, input) =>
        (input as string).endsWith("a") && count < 4 ? refusal({ "retry-after": "2", ...headers }) : ok(),
      options,
    );
    await inRun(clock, async () => {
      call("a");
      await clock.advance(0);
      expect(limiter.stats().pausedForMs).toBe(0);
      call("b");
      await clock.advance(2_000);
      expect(sent).toEqual(["a t0", "b t0", "a t2000"]);
      await clock.advance(2_000);
    });
  });

  test("when it is refused again while others are served", async () => {
    const { clock, limiter, sent, call } = setUp((_, input) =>
      (input as string).endsWith("bad") ? refusal({ "retry-after": "1" }) : ok(),
    );
    await inRun(clock, async () => {
      call("bad");
      await clock.advance(500);
      call("good");
      await clock.advance(500);
      // Refused again at t1000, before anything else was sent: that may still be the budget.
      expect(limiter.stats().pausedForMs).toBe(1_000);
      await clock.advance(1_001);
      expect(sent).toEqual(["bad t0", "bad t1000", "good t2000", "bad t2001"]);
      expect(limiter.stats().pausedForMs).toBe(0);
    });
  });

  test("and then draws from the limiter, as every request does", async () => {
    const { clock, limiter, sent, call } = setUp(
      (count) => (count === 1 ? refusal({ "retry-after": "1" }) : ok()),
      { feedback: { isShared: () => false } },
    );
    await inRun(clock, async () => {
      call("a");
      await clock.advance(0);
      limiter.pause(3_000);
      await clock.advance(3_000);
      expect(sent).toEqual(["a t0", "a t3000"]);
    });
  });

  test("with a bound that doubles, without a hint, and at most for maxPauseMs", async () => {
    const feedback = { isShared: () => false, maxPauseMs: 300 };
    const { clock, sent, call } = setUp(() => refusal(), { feedback, retry: { retries: 3, backoffMs: 100 } });
    await inRun(clock, async () => {
      call("a");
      await clock.advance(10_000);
      expect(sent).toEqual(["a t0", "a t100", "a t300", "a t600"]);
    });
  });

  test("with a hint at most for maxPauseMs", async () => {
    const feedback = { isShared: () => false, maxPauseMs: 300 };
    const { clock, sent, call } = setUp(() => refusal({ "retry-after": "9999" }), { feedback, retry: 1 });
    await inRun(clock, async () => {
      call("a");
      await clock.advance(10_000);
      expect(sent).toEqual(["a t0", "a t300"]);
    });
  });

  test("until its signal aborts", async () => {
    const { clock, trace, sent, call } = setUp(() => refusal({ "retry-after": "5" }), {
      feedback: { isShared: () => false },
    });
    await inRun(clock, async () => {
      const leave = new AbortController();
      call("a", { signal: leave.signal });
      await clock.advance(1_000);
      leave.abort("enough");
      await clock.advance(0);
      expect(trace.reasonOf("a")).toBe("enough");
      expect(sent).toEqual(["a t0"]);
      expect(clock.pending).toBe(0);
    });
  });
});

test("x-should-retry: false is handed on and holds up nobody", async () => {
  const isShared = jest.fn(() => true);
  const { clock, limiter, trace, sent, call } = setUp(
    () => refusal({ "x-should-retry": "false", "retry-after": "9" }),
    { feedback: { isShared } },
  );
  call("a");
  await clock.advance(0);
  expect([sent, trace.events]).toEqual([["a t0"], ["a t0"]]);
  expect(limiter.stats().pausedForMs).toBe(0);
  expect(isShared).not.toHaveBeenCalled();
});

test("a quota of which something is left is no hint, stale or not", async () => {
  const { clock, limiter, call } = setUp(() =>
    refusal({ "x-ratelimit-remaining": "5", "x-ratelimit-reset": "3000" }),
  );
  call("a");
  await clock.advance(0);
  expect(limiter.stats().pausedForMs).toBe(500);
});

test.each(["59, 59", "5;w=60", "unlimited"])("what is left is not none where it is %p", async (remaining) => {
  const { clock, limiter, call } = setUp(() =>
    refusal({ "x-ratelimit-remaining": remaining, "x-ratelimit-reset": "3000" }),
  );
  call("a");
  await clock.advance(0);
  expect(limiter.stats().pausedForMs).toBe(500);
});

test("a 503 is a refusal when it names a time or says that a quota is empty, not for a reset alone", async () => {
  const paused = async (headers: Record<string, string>): Promise<number> => {
    const { clock, limiter, call } = setUp(() => refusal(headers, 503));
    call("a");
    await clock.advance(0);
    return limiter.stats().pausedForMs;
  };
  expect(await paused({ "x-ratelimit-reset": "30" })).toBe(0);
  expect(await paused({ "x-ratelimit-reset": "30", "x-ratelimit-remaining": "0" })).toBe(30_000);
  expect(await paused({ "retry-after": "2" })).toBe(2_000);
});

test("isShared may read the answer, and the caller gets the whole of it", async () => {
  const body = "x".repeat(300_000);
  const seen: string[] = [];
  const { limiter, fetch } = setUp(
    () => new Response(body, { status: 429, headers: { "retry-after": "2" } }),
    {
      retry: 0,
      feedback: {
        isShared: async (answer) => {
          seen.push(await answer.text(), await answer.text(), String(answer.status));
          return answer.headers.get("retry-after") === "2";
        },
      },
    },
  );
  const response = await fetch(URL_OF_IT);
  expect(seen).toEqual([body, body, "429"]);
  expect(await response.text()).toBe(body);
  expect(limiter.stats().pausedForMs).toBe(2_000);
});

test.each([{}, { feedback: false as const }])("a limiter that cannot pause is refused: %p", (options) => {
  const plain = { acquire: () => Promise.resolve() };
  expect(() => limitFetch(plain as never, options)).toThrow(
    '"limiter" must be a limiter or a budget with acquire() and pause(), or a key of one; got an object.',
  );
});

test("a limiter that cannot be paused now costs nobody the answer, and the call waits by itself", async () => {
  const warned = jest.spyOn(process, "emitWarning").mockReturnValue(undefined);
  const { clock, limiter, sent, call, trace } = setUp((count) =>
    count === 1 ? refusal({ "retry-after": "2" }) : ok(),
  );
  jest.spyOn(limiter, "pause").mockImplementation(() => {
    throw new Error("out of reach");
  });
  await inRun(clock, async () => {
    call("a");
    await clock.advance(2_000);
    expect(sent).toEqual(["a t0", "a t2000"]);
    expect(trace.events).toEqual(["a t2000"]);
  });
  expect(warned).toHaveBeenCalledTimes(1);
  expect(warned.mock.calls[0]?.[1]).toMatchObject({ code: "TIDEGATE_PAUSE_FAILED" });
});

test("of many that are refused again, with one served between them, all but the first say that it is the budget", async () => {
  // Ten at once; of those that come back one is served, and the quota is used up again.
  const { clock, limiter, call } = setUp((count) => (count === 11 ? ok() : refusal({ "retry-after": "1" })), {
    rate: 10,
    capacity: 10,
    retry: 5,
  });
  await inRun(clock, async () => {
    for (let index = 0; index < 10; index += 1) call("a");
    await clock.advance(1_000); // the first of them is served
    await clock.advance(100); // refused again: it may be for itself
    expect(limiter.stats().pausedForMs).toBe(0);
    await clock.advance(100); // and this one too: it is not
    expect(limiter.stats().pausedForMs).toBe(1_000);
  });
});
