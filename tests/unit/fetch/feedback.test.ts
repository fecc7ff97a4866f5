import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { limitFetch } from "../../../src/fetch/index.js";
import { observeLimiters } from "../../../src/rate-limit/index.js";
import { ok, refusal, serverOf, setUp } from "./support/set-up.js";

// What a refusal does to all who draw from the limiter.

afterEach(() => {
  jest.restoreAllMocks();
});

describe("a refusal", () => {
  test.each([
    [429, {}],
    [503, { "retry-after": "1" }],
  ])("with status %i pauses the limiter, and the request is sent again", async (status, headers) => {
    jest.spyOn(Math, "random").mockReturnValue(0.5);
    const { clock, limiter, trace, sent, call } = setUp(
      (count) => (count === 1 ? refusal(headers, status) : ok()),
      { retry: { backoffMs: 2_000 } },
    );
    call("a");
    await clock.advance(0);
    expect(limiter.stats().pausedForMs).toBe(1_000);
    await clock.advance(1_000);
    expect([sent, trace.events]).toEqual([["a t0", "a t1000"], ["a t1000"]]);
  });

  test.each([
    [503, {}],
    [503, { "retry-after": "soon" }],
    [500, { "retry-after": "1" }],
    [404, {}],
    [200, { "retry-after": "1" }],
  ])("is not: status %i with %p, which is handed on", async (status, headers: Record<string, string>) => {
    const { clock, limiter, trace, sent, call } = setUp(() => new Response(null, { status, headers }));
    call("a");
    await clock.advance(0);
    expect([sent, trace.events]).toEqual([["a t0"], ["a t0"]]);
    expect(limiter.stats().pausedForMs).toBe(0);
  });

  test("has the statuses that are given, and those need a time", async () => {
    const { clock, sent, call } = setUp(
      (count) =>
        count === 1 ? refusal({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "3" }, 403) : ok(),
      { retry: { statuses: [403] } },
    );
    call("a");
    await clock.advance(3_000);
    expect(sent).toEqual(["a t0", "a t3000"]);
  });

  test("holds up who comes later and who waits, and then they come one by one, the refused last", async () => {
    const { clock, sent, call } = setUp((count) => (count === 1 ? refusal({ "retry-after": "2" }) : ok()), {
      rate: 10,
      capacity: 1,
    });
    for (const label of ["a", "b", "c"]) call(label);
    await clock.advance(50);
    call("d");
    await clock.advance(5_000);
    expect(sent).toEqual(["a t0", "b t2000", "c t2100", "a t2200", "d t2300"]);
  });

  test("pauses at most for maxPauseMs", async () => {
    const { clock, limiter, call } = setUp(() => refusal({ "retry-after": "3600" }), {
      feedback: { maxPauseMs: 700 },
    });
    call("a");
    await clock.advance(0);
    expect(limiter.stats().pausedForMs).toBe(700);
    const other = setUp(() => refusal({ "retry-after": "3600" }));
    other.call("a");
    await other.clock.advance(0);
    expect(other.limiter.stats().pausedForMs).toBe(60_000);
  });

  test("pauses that limiter and no other, through whichever fetch of it", async () => {
    const one = setUp(() => refusal({ "retry-after": "9" }), { retry: false });
    const other = setUp(() => ok());
    const { fetch, sent } = serverOf(() => ok(), one.clock);
    const second = limitFetch(one.limiter, { fetch });
    one.call("a");
    await one.clock.advance(0);
    one.trace.follow("second", second("https://api.test/b"));
    other.call("c");
    await one.clock.advance(9_000);
    await other.clock.advance(0);
    expect(sent).toEqual(["b t9000"]);
    expect(other.sent).toEqual(["c t0"]);
  });

  test("can be ended by resume()", async () => {
    const { clock, limiter, sent, call } = setUp((count) =>
      count === 1 ? refusal({ "retry-after": "60" }) : ok(),
    );
    call("a");
    await clock.advance(100);
    limiter.resume();
    await clock.advance(10);
    expect(sent).toEqual(["a t0", "a t100"]);
  });

  test("is told to observers, as is what follows", async () => {
    const events: unknown[] = [];
    const end = observeLimiters({
      waited: ({ limiter }) => events.push(["waited", limiter]),
      granted: ({ limiter, waitedMs }) => events.push(["granted", limiter, waitedMs]),
      paused: (event) => events.push(["paused", event]),
      retried: (event) => events.push(["retried", event]),
    });
    const { clock, call } = setUp((count) => (count < 3 ? refusal({ "retry-after": "1" }) : ok()));
    call("a");
    await clock.advance(3_000);
    end();
    const again = (attempt: number): unknown[] => [
      ["paused", { limiter: "api", ms: 1_000 }],
      ["waited", "api"],
      ["granted", "api", 1_000],
      ["retried", { limiter: "api", status: 429, attempt }],
    ];
    expect(events).toEqual([["granted", "api", 0], ...again(1), ...again(2)]);
  });

  test("that comes with the last attempt still pauses", async () => {
    const { clock, limiter, trace, call } = setUp(() => refusal({ "retry-after": "1" }), { retry: 1 });
    call("a");
    await clock.advance(1_000);
    expect(limiter.stats().pausedForMs).toBe(1_000);
    expect(trace.events).toEqual(["a t1000"]);
  });

  test("that may not be repeated still pauses", async () => {
    const { clock, limiter, trace, call } = setUp(() => refusal({ "retry-after": "1" }));
    call("a", { method: "POST" });
    await clock.advance(0);
    expect(limiter.stats().pausedForMs).toBe(1_000);
    expect(trace.events).toEqual(["a t0"]);
  });
});

describe("many in flight that are all refused", () => {
  test("make one pause, which ends last, when the server says how long", async () => {
    const { clock, limiter, sent, call } = setUp(
      (count) => (count <= 10 ? refusal({ "retry-after": String(count % 4) }) : ok()),
      { rate: 10, capacity: 10 },
    );
    for (let index = 0; index < 10; index += 1) call("a");
    await clock.advance(0);
    expect(limiter.stats().pausedForMs).toBe(3_000);
    await clock.advance(10_000);
    expect(sent.slice(10)).toEqual(
      Array.from({ length: 10 }, (_, index) => `a t${String(3_000 + index * 100)}`),
    );
  });

  test("make one pause by chance, when it does not, and the next is drawn from twice as much at most", async () => {
    const random = jest.spyOn(Math, "random").mockReturnValue(1);
    const { clock, limiter, call } = setUp((count) => (count <= 11 ? refusal() : ok()), {
      rate: 10,
      capacity: 10,
    });
    for (let index = 0; index < 10; index += 1) call("a");
    await clock.advance(0);
    expect(random).toHaveBeenCalledTimes(1);
    expect(limiter.stats().pausedForMs).toBe(500);
    // The eleventh is the first after the pause.
    await clock.advance(500);
    expect(random).toHaveBeenCalledTimes(2);
    expect(limiter.stats().pausedForMs).toBe(1_000);
  });
});

describe("pauses in a row, without a hint", () => {
  /** The pause after each refusal, where random numbers are 1. */
  async function pauses(server: (count: number) => Response): Promise<number[]> {
    jest.spyOn(Math, "random").mockReturnValue(1);
    const told: number[] = [];
    const end = observeLimiters({ paused: ({ ms }) => told.push(ms) });
    const { clock, call } = setUp(server, { retry: { retries: 11, backoffMs: 100 } });
    call("a");
    await clock.advance(400_000);
    end();
    return told;
  }

  test("double, up to the cap", async () => {
    expect(await pauses((count) => (count > 4 ? ok() : refusal()))).toEqual([100, 200, 400, 800]);
    const all = await pauses(() => refusal());
    expect(all.slice(-3)).toEqual([51_200, 60_000, 60_000]);
  });

  test("count many in flight as one, with a hint too", async () => {
    jest.spyOn(Math, "random").mockReturnValue(1);
    const { clock, limiter, call } = setUp((count) => refusal(count <= 5 ? { "retry-after": "1" } : {}), {
      retry: { retries: 1, backoffMs: 100 },
    });
    for (let index = 0; index < 5; index += 1) call("a");
    await clock.advance(1_000);
    expect(limiter.stats().pausedForMs).toBe(200);
  });

  test("start again after a success", async () => {
    jest.spyOn(Math, "random").mockReturnValue(1);
    const { clock, limiter, call } = setUp((count) => (count === 3 ? ok() : refusal()), {
      retry: { retries: 2, backoffMs: 100 },
    });
    call("a");
    await clock.advance(1_000);
    call("b", { method: "POST" });
    await clock.advance(0);
    expect(limiter.stats().pausedForMs).toBe(100);
  });

  test("start again after what was let through without success, such as a 304", async () => {
    jest.spyOn(Math, "random").mockReturnValue(1);
    const { clock, limiter, call } = setUp(
      (count) => (count === 3 ? new Response(null, { status: 304 }) : refusal()),
      { retry: { retries: 2, backoffMs: 100 } },
    );
    call("a");
    await clock.advance(1_000);
    call("b", { method: "POST" });
    await clock.advance(0);
    expect(limiter.stats().pausedForMs).toBe(100);
  });

  test("do not start again for a success that was sent before the pause", async () => {
    jest.spyOn(Math, "random").mockReturnValue(1);
    let answer = (_: Response): void => undefined;
    const slow = new Promise<Response>((resolve) => {
      answer = resolve;
    });
    const { clock, limiter, call } = setUp((count) => (count === 1 ? slow : refusal()), {
      retry: { backoffMs: 100 },
    });
    call("slow");
    call("b", { method: "POST" });
    await clock.advance(100);
    answer(ok());
    call("c", { method: "POST" });
    await clock.advance(1);
    expect(limiter.stats().pausedForMs).toBeGreaterThan(100);
  });
});
