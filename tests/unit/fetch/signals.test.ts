import { describe, expect, test } from "@jest/globals";
import { ok, reasonOf, refusal, setUp, URL_OF_IT } from "./support/set-up.js";

// Aborting a call, at each of its moments.

test.each([
  ["init", (signal: AbortSignal): [string | Request, RequestInit?] => [URL_OF_IT, { signal }]],
  [
    "the Request",
    (signal: AbortSignal): [string | Request, RequestInit?] => [new Request(URL_OF_IT, { signal })],
  ],
  [
    "init, not the Request",
    (signal: AbortSignal): [string | Request, RequestInit?] => [
      new Request(URL_OF_IT, { signal: new AbortController().signal }),
      { signal },
    ],
  ],
])("a signal of %s that has aborted already: nothing is sent or spent", async (_, args) => {
  const { limiter, sent, fetch } = setUp(() => ok());
  expect(await reasonOf(fetch(...args(AbortSignal.abort("enough"))))).toBe("enough");
  expect(sent).toEqual([]);
  expect(limiter.stats()).toMatchObject({ granted: 0, available: 1_000 });
});

test("null in init: the signal of the Request does not count", async () => {
  const { sent, fetch } = setUp(() => ok());
  await fetch(new Request(URL_OF_IT, { signal: AbortSignal.abort() }), { signal: null });
  expect(sent).toEqual(["t0"]);
});

test("aborting while it waits gives the place up", async () => {
  const { clock, limiter, trace, sent, call } = setUp(() => ok(), { rate: 10, capacity: 1 });
  const leave = new AbortController();
  call("a");
  call("b", { signal: leave.signal });
  call("c");
  await clock.advance(50);
  leave.abort("enough");
  await clock.advance(50);
  expect(sent).toEqual(["a t0", "c t100"]);
  expect(trace.reasonOf("b")).toBe("enough");
  expect(limiter.stats()).toMatchObject({ granted: 2, aborted: 1 });
});

test("aborting while it waits to be sent again leaves the pause to the others", async () => {
  const { clock, limiter, trace, sent, call } = setUp((count) =>
    count === 1 ? refusal({ "retry-after": "30" }) : ok(),
  );
  const leave = new AbortController();
  const reason = new Error("enough");
  call("a", { signal: leave.signal });
  await clock.advance(1_000);
  call("b");
  leave.abort(reason);
  await clock.advance(0);
  expect(trace.reasonOf("a")).toBe(reason);
  expect(limiter.stats().pausedForMs).toBe(29_000);
  await clock.advance(29_000);
  expect(sent).toEqual(["a t0", "b t30000"]);
  expect(clock.pending).toBe(0);
});

test("aborting while the request is under way is left to fetch", async () => {
  const { clock, limiter, trace, sent, call } = setUp(
    (_count, _input, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => {
          reject(init.signal?.reason);
        });
      }),
  );
  const leave = new AbortController();
  call("a", { signal: leave.signal });
  await clock.advance(1_000);
  leave.abort("enough");
  await clock.advance(10_000);
  expect(trace.reasonOf("a")).toBe("enough");
  expect(sent).toEqual(["a t0"]);
  expect(limiter.stats()).toMatchObject({ granted: 1, pausedForMs: 0 });
});

describe("what is no signal", () => {
  test("is an error that names it, and nothing is sent", async () => {
    const { sent, fetch } = setUp(() => ok());
    const reason = await reasonOf(fetch(URL_OF_IT, { signal: {} as AbortSignal }));
    expect(reason).toMatchObject({ code: "ARGUMENT_INVALID", option: "signal" });
    expect(sent).toEqual([]);
  });
});
