import { describe, expect, test } from "@jest/globals";
import { KeyedRateLimiter, type RateLimiter } from "../../../src/rate-limit/index.js";
import { setUpKeyed } from "./support/keyed.js";
import { Trace } from "./support/trace.js";

/** A handle whose key was dropped, and one that was fetched after that. */
function twoHandles(rate = 1, capacity = 10) {
  const { clock, keyed } = setUpKeyed(rate, capacity, { name: "hosts" });
  const old = keyed.for("a");
  if (keyed.size !== 0) throw new Error("The key is still in use.");
  const fresh = keyed.for("a");
  if (fresh === old) throw new Error("The key was not dropped.");
  return { clock, keyed, old, fresh };
}

const ways: readonly [string, (old: RateLimiter, fresh: RateLimiter) => [RateLimiter, RateLimiter]][] = [
  ["the old handle, seen by the new one", (old, fresh) => [old, fresh]],
  ["the new handle, seen by the old one", (old, fresh) => [fresh, old]],
];

describe.each(ways)("a key that was dropped and came back, through %s", (_, order) => {
  function setUp(rate = 1, capacity = 10) {
    const { clock, keyed, old, fresh } = twoHandles(rate, capacity);
    const [acting, seeing] = order(old, fresh);
    return { clock, keyed, acting, seeing };
  }

  test("acquire and tryAcquire draw from the one budget", async () => {
    const { keyed, acting, seeing } = setUp();
    await acting.acquire(3);
    expect(acting.tryAcquire(2)).toBe(true);
    expect(seeing.stats()).toMatchObject({ available: 5, granted: 2, grantedTokens: 5 });
    expect(seeing.tryAcquire(6)).toBe(false);
    expect(seeing.tryAcquire(5)).toBe(true);
    expect(acting.tryAcquire(1)).toBe(false);
    expect(keyed.tryAcquire("a")).toBe(false);
  });

  test("callers wait in one line, in the order in which they came", async () => {
    const { clock, keyed, acting, seeing } = setUp(1, 1);
    const trace = new Trace(clock);
    const calls = { acting, seeing, key: { acquire: () => keyed.acquire("a") } };
    for (const label of ["acting", "seeing", "key", "seeing", "acting"] as const)
      trace.follow(label, calls[label].acquire());
    expect(clock.pending).toBe(1);
    expect(seeing.stats().queued).toBe(4);
    await clock.advance(4_000);
    expect(trace.events).toEqual(["acting t0", "seeing t1000", "key t2000", "seeing t3000", "acting t4000"]);
  });

  test("charge and refund are seen", async () => {
    const { clock, keyed, acting, seeing } = setUp();
    acting.charge(14);
    expect(seeing.stats().available).toBe(-4);
    expect(seeing.estimateWaitMs()).toBe(5_000);
    acting.refund(5);
    expect(seeing.stats().available).toBe(1);
    expect(keyed.size).toBe(1);
    await clock.advance(9_000);
    expect(keyed.size).toBe(0);
  });

  test("a refund lets those go who wait", async () => {
    const { clock, acting, seeing } = setUp(1, 1);
    const trace = new Trace(clock);
    seeing.charge(100);
    trace.follow("a", seeing.acquire());
    acting.refund(100);
    await clock.advance(0);
    expect(trace.events).toEqual(["a t0"]);
  });

  test("pause and resume hold and release", async () => {
    const { clock, acting, seeing } = setUp();
    acting.pause(5_000);
    expect(seeing.stats().pausedForMs).toBe(5_000);
    expect(seeing.tryAcquire()).toBe(false);
    const trace = new Trace(clock);
    trace.follow("a", seeing.acquire());
    await clock.advance(1_000);
    acting.resume();
    await clock.advance(0);
    expect(trace.events).toEqual(["a t1000"]);
  });

  test("setRate moves those who wait", async () => {
    const { clock, keyed, acting, seeing } = setUp(1, 1);
    const trace = new Trace(clock);
    for (const label of ["a", "b", "c"]) trace.follow(label, seeing.acquire());
    acting.setRate({ maxRowsPerSecond: 10 });
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a t0", "b t100", "c t200"]);
    expect(seeing.stats().capacity).toBe(10);
    expect(keyed.size).toBe(1);
    // What is left out stays as it is: the rate of the one budget, not the one that the handle had.
    acting.setRate({ burstWindowSecs: 2 });
    expect(seeing.stats().capacity).toBe(20);
  });

  test("estimateWaitMs counts the line", () => {
    const { acting, seeing } = setUp(1, 1);
    for (let call = 0; call < 4; call += 1) void acting.acquire();
    expect(seeing.estimateWaitMs(2)).toBe(5_000);
  });

  test("onIdle waits for the line", async () => {
    const { clock, acting, seeing } = setUp(1, 1);
    const trace = new Trace(clock);
    for (let call = 0; call < 3; call += 1) void seeing.acquire();
    trace.follow("idle", acting.onIdle());
    await clock.advance(5_000);
    expect(trace.events).toEqual(["idle t2000"]);
  });

  test("what wrap made before draws from it", async () => {
    const { clock, acting, seeing } = setUp(1, 2);
    const send = acting.wrap(
      (n: number) => Promise.resolve(n * 2),
      (n) => n,
    );
    expect(await send(2)).toBe(4);
    expect(seeing.stats().available).toBe(0);
    const trace = new Trace(clock);
    trace.follow("send", send(1));
    await clock.advance(1_000);
    expect(trace.events).toEqual(["send t1000"]);
  });

  test.each(["close", "dispose"])("%s closes it", async (how) => {
    const { keyed, acting, seeing } = setUp(1, 1);
    await seeing.acquire();
    const call = seeing.acquire();
    if (how === "close") acting.close("over");
    else acting[Symbol.dispose]();
    await expect(call).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
    await expect(seeing.acquire()).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
    await expect(keyed.acquire("a")).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
  });
});

test("a handle that was wrapped before its key was dropped shares the budget of the key", async () => {
  const { keyed } = setUpKeyed(1, 3);
  const send = keyed.for("a").wrap(() => Promise.resolve("sent"));
  expect(keyed.size).toBe(0);
  expect(await send()).toBe("sent");
  expect(keyed.for("a").stats().available).toBe(2);
});

test("handles of many generations share one budget, whichever brings the key back", async () => {
  const { clock, keyed } = setUpKeyed(1, 20);
  const handles: RateLimiter[] = [];
  for (let generation = 0; generation < 10; generation += 1) {
    handles.push(keyed.for("a"));
    expect(keyed.size).toBe(0);
  }
  expect(new Set(handles).size).toBe(10);
  for (const reviver of [9, 0, 4]) {
    await handles[reviver]?.acquire(1);
    expect(keyed.size).toBe(1);
    for (const handle of handles) expect(handle.tryAcquire()).toBe(true);
    expect(handles.map((handle) => handle.stats().available)).toEqual(handles.map(() => 9));
    expect(keyed.tryAcquire("a", 10)).toBe(false);
    await clock.advance(20_000);
    expect(keyed.size).toBe(0);
  }
});

test("a handle keeps its name, and counts anew after its key was dropped", async () => {
  const { clock, keyed } = setUpKeyed(1, 10, { name: "hosts" });
  const limiter = keyed.for("a");
  await limiter.acquire(4);
  expect(limiter.stats()).toMatchObject({ granted: 1, grantedTokens: 4 });
  await clock.advance(4_000);
  expect(limiter.stats()).toMatchObject({ granted: 1, grantedTokens: 4 });
  expect(keyed.size).toBe(0);
  expect(limiter.name).toBe("hosts");
  expect(limiter.stats()).toEqual(new KeyedRateLimiter<string>(optionsOf(limiter)).for("a").stats());
});

function optionsOf(limiter: RateLimiter) {
  return { maxRowsPerSecond: 1, burstWindowSecs: limiter.stats().capacity };
}
