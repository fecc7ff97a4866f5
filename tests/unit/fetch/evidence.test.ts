import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { limitFetch } from "../../../src/fetch/index.js";
import type { Limiter } from "../../../src/rate-limit/index.js";
import { inRun, ok, refusal, serverOf, setUp, settled, URL_OF_IT } from "./support/set-up.js";
import { ManualClock } from "../../../src/testing/index.js";

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

test("without feedback, a limiter that cannot pause will do", async () => {
  const clock = new ManualClock();
  const taken: unknown[] = [];
  const plain = { acquire: async (n: number) => void taken.push(n) } as Limiter;
  const { fetch, sent } = serverOf((count) => (count === 1 ? refusal({ "retry-after": "1" }) : ok()), clock);
  const limited = limitFetch(plain as never, { fetch, feedback: false });
  await inRun(clock, async () => {
    const answered = limited(URL_OF_IT);
    await clock.advance(1_000);
    expect((await answered).status).toBe(200);
  });
  await settled();
  expect([taken, sent]).toEqual([
    [1, 1],
    ["t0", "t1000"],
  ]);
});
