import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { LimitFetchOptions } from "../../../src/fetch/index.js";
import type { RateLimiter } from "../../../src/rate-limit/index.js";
import { ok, refusal, setUp, settled, URL_OF_IT } from "./support/set-up.js";

// Faults that users of other libraries have reported, replayed.

beforeEach(() => {
  // Full jitter draws from 0 up to a bound: here always the bound.
  jest.spyOn(Math, "random").mockReturnValue(1);
});

afterEach(() => {
  jest.restoreAllMocks();
});

const THREE: LimitFetchOptions<RateLimiter> = { retry: { retries: 3, backoffMs: 500 } };

/** When a request was sent to a server that always says this. */
async function sentTo(headers: Record<string, string>): Promise<string[]> {
  const { clock, sent, call } = setUp(() => refusal(headers), THREE);
  call("a");
  await clock.advance(1_000_000);
  return sent;
}

const BACKOFF = ["a t0", "a t500", "a t1500", "a t3500"];

test("F102: pauses that overlap end at the latest end, and all who wait come back in order", async () => {
  const answers: ((response: Response) => void)[] = [];
  const { clock, limiter, trace, sent, call } = setUp(
    (count) => (count > 3 ? ok() : new Promise((resolve) => answers.push(resolve))),
    { rate: 10, capacity: 3, retry: false },
  );
  const refuse = (seconds: string): void => answers.shift()?.(refusal({ "retry-after": seconds }));
  for (const label of ["x", "y", "z"]) call(label);
  await clock.advance(0);
  refuse("2");
  await clock.advance(0);
  const leave = new AbortController();
  for (const label of ["a", "b", "c", "d", "e"]) call(label, label === "c" ? { signal: leave.signal } : {});
  await clock.advance(500);
  refuse("1");
  await clock.advance(500);
  expect(limiter.stats()).toMatchObject({ queued: 5, pausedForMs: 1_000 });
  refuse("5");
  await clock.advance(500);
  leave.abort("enough");
  await clock.advance(20_000);
  expect(sent.slice(3)).toEqual(["a t6000", "b t6100", "d t6200", "e t6300"]);
  expect(trace.reasonOf("c")).toBe("enough");
});

describe("F104: a Retry-After that cannot be read is as none", () => {
  test.each(["soon", "1000abc", "", "NaN", "12, 15"])("%p", async (value) => {
    expect(await sentTo({ "retry-after": value })).toEqual(BACKOFF);
  });
});

describe("F105: a number is not read as a year", () => {
  test.each(["-3", "+3"])("%p is as none", async (value) => {
    expect(await sentTo({ "retry-after": value })).toEqual(BACKOFF);
  });

  test.each([
    [" 7 ", ["a t0", "a t7000", "a t14000", "a t21000"]],
    // Not in the standard, but it can mean only one thing.
    ["1.5", ["a t0", "a t1500", "a t3000", "a t4500"]],
  ])("%p is seconds", async (value, sent) => {
    expect(await sentTo({ "retry-after": value })).toEqual(sent);
  });
});

describe("F107: a time that has passed is no wait, but neither is it no limit", () => {
  test.each(["0", "a date 10 s ago"])("%s", async (hint) => {
    const value = hint === "0" ? hint : new Date(Date.now() - 10_000).toUTCString();
    const { clock, trace, sent, call } = setUp(
      (count) => (count <= 3 ? refusal({ "retry-after": value }) : ok()),
      { ...THREE, rate: 10, capacity: 1 },
    );
    call("a");
    await clock.advance(5_000);
    expect(sent).toEqual(["a t0", "a t100", "a t200", "a t300"]);
    expect(trace.events).toEqual(["a t300"]);
    call("b");
    await clock.advance(5_000);
    expect(sent).toHaveLength(5);
  });
});

describe("F108: X-RateLimit-Reset is a moment or a duration, by its size", () => {
  const DATE = "Fri, 12 Apr 2024 10:39:21 GMT";
  const AT = Date.parse(DATE) / 1_000;

  test.each([
    ["a moment that has passed", "1712918331", 0],
    ["a moment in 30 s", String(AT + 30), 30_000],
    ["30 s", "30", 30_000],
    ["a moment that has passed, in milliseconds", "1712918331000", 0],
    ["a moment in 30 s, in milliseconds", String((AT + 30) * 1_000), 30_000],
  ])("%s", async (_, reset, waitMs) => {
    const headers = { date: DATE, "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset };
    const { clock, limiter, call } = setUp(() => refusal(headers), { retry: false });
    call("a");
    await clock.advance(0);
    expect(limiter.stats().pausedForMs).toBe(waitMs);
  });
});

describe("F110: a body is sent twice in full, or once", () => {
  const form = new FormData();
  form.set("a", "1");
  const bodies: [string, () => [string | Request, RequestInit?]][] = [
    ["a Request", () => [new Request(URL_OF_IT, { method: "PUT", body: '{"a":1}' })]],
    ["FormData", () => [URL_OF_IT, { method: "PUT", body: form }]],
    ["URLSearchParams", () => [URL_OF_IT, { method: "PUT", body: new URLSearchParams({ a: "1" }) }]],
    ["Uint8Array", () => [URL_OF_IT, { method: "PUT", body: new TextEncoder().encode('{"a":1}') }]],
  ];

  test.each(bodies)("%s arrives twice, the same", async (_, args) => {
    const arrived: string[] = [];
    const { clock, fetch } = setUp(async (count, input, init) => {
      const body = await new Request(input, init).text();
      // The boundary of a form is drawn anew for each sending.
      arrived.push(body.replace(/-+(?:WebKit)?form\w*-?[\w-]*/gi, "boundary"));
      return count === 1 ? refusal({ "retry-after": "1" }, 503) : ok();
    });
    const answered = fetch(...args());
    await settled();
    await clock.advance(1_000);
    await settled();
    expect((await answered).status).toBe(200);
    expect(arrived).toHaveLength(2);
    expect(arrived[0]).toMatch(/a/);
    expect(arrived[1]).toBe(arrived[0]);
  });

  test("a stream arrives once, and the refusal is handed on", async () => {
    const { clock, sent, fetch } = setUp(() => refusal({ "retry-after": "1" }, 503));
    const body = new Blob(["a"]).stream();
    const response = await fetch(URL_OF_IT, { method: "PUT", body, duplex: "half" } as RequestInit);
    await clock.advance(10_000);
    expect([response.status, sent]).toEqual([503, ["t0"]]);
  });
});
