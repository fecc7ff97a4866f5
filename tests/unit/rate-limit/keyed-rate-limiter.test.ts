import { describe, expect, test } from "@jest/globals";
import {
  InvalidArgumentError,
  KeyedRateLimiter,
  type KeyedRateLimiterOptions,
  LimiterClosedError,
  QueueFullError,
  RateLimiter,
} from "../../../src/rate-limit/index.js";
import { setUpKeyed } from "./support/keyed.js";
import { Trace } from "./support/trace.js";

describe("keys", () => {
  test("each has a budget of its own", async () => {
    const { clock, keyed } = setUpKeyed(1, 1);
    const trace = new Trace(clock);
    for (const label of ["a1", "b1", "a2", "a3", "b2"]) trace.follow(label, keyed.acquire(label.charAt(0)));
    await clock.advance(2_000);
    expect(trace.events).toEqual(["a1 t0", "b1 t0", "a2 t1000", "b2 t1000", "a3 t2000"]);
  });

  test("for() gives the limiter that acquire and tryAcquire draw from", async () => {
    const { keyed } = setUpKeyed(1, 10);
    const limiter = keyed.for("a");
    expect(limiter).toBeInstanceOf(RateLimiter);
    expect(keyed.for("a")).toBe(limiter);
    await keyed.acquire("a");
    await keyed.acquire("a", 2);
    expect(keyed.tryAcquire("a")).toBe(true);
    expect(keyed.tryAcquire("a", 3)).toBe(true);
    expect(limiter.stats().available).toBe(3);
    expect(keyed.tryAcquire("a", 4)).toBe(false);
    expect(keyed.for("b").stats().available).toBe(10);
  });

  test("acquire passes its options on", async () => {
    const { clock, keyed } = setUpKeyed(1, 1);
    const leave = new AbortController();
    await keyed.acquire("a");
    await expect(keyed.acquire("a", 1, { maxWaitMs: 999 })).rejects.toMatchObject({ code: "WAIT_TOO_LONG" });
    const call = keyed.acquire("a", undefined, { signal: leave.signal });
    leave.abort("gone");
    await expect(call).rejects.toBe("gone");
    expect(clock.pending).toBe(0);
  });

  test("are compared as those of a Map", () => {
    const { keyed } = setUpKeyed<unknown>(1, 10);
    const one = { id: 1 };
    for (const [key, other] of [
      [one, { id: 1 }],
      ["1", 1],
      [undefined, null],
      [0, ""],
      [false, "false"],
      [Symbol.for("a"), Symbol("a")],
    ]) {
      expect(keyed.for(key)).toBe(keyed.for(key));
      expect(keyed.for(key)).not.toBe(keyed.for(other));
    }
    expect(keyed.for(NaN)).toBe(keyed.for(0 / 0));
    expect(keyed.for(-0)).toBe(keyed.for(0));
  });

  test("a key that is no string has one budget like any other", () => {
    const { keyed } = setUpKeyed<unknown>(1, 1);
    for (const key of [undefined, null, NaN, 0, {}, Symbol("a")]) {
      expect(keyed.tryAcquire(key)).toBe(true);
      expect(keyed.tryAcquire(key)).toBe(false);
    }
    expect(keyed.tryAcquire(-0)).toBe(false);
    expect(keyed.size).toBe(6);
  });

  test("what acquire refuses is a rejection, what tryAcquire refuses is thrown", async () => {
    const { keyed } = setUpKeyed(1, 1);
    await expect(keyed.acquire("a", -1)).rejects.toBeInstanceOf(InvalidArgumentError);
    expect(() => keyed.tryAcquire("a", 0.5)).toThrow(InvalidArgumentError);
  });
});

describe("options", () => {
  test("hold for every key: rate, burst, maxQueue, clock and name", async () => {
    const { clock, keyed } = setUpKeyed(2, 3, { maxQueue: 1, name: "hosts" });
    expect(keyed.name).toBe("hosts");
    for (const key of ["a", "b"]) {
      expect(keyed.for(key).name).toBe("hosts");
      expect(keyed.for(key).stats()).toMatchObject({ available: 3, capacity: 3 });
      void keyed.acquire(key, 4);
      await expect(keyed.acquire(key)).rejects.toBeInstanceOf(QueueFullError);
      await expect(keyed.acquire(key)).rejects.toMatchObject({ limiter: "hosts", maxQueue: 1 });
    }
    expect(clock.delays).toEqual([500, 500]);
  });

  test("the name is one for all kinds of keys when none is given", () => {
    expect(new KeyedRateLimiter({ maxRowsPerSecond: 1 }).name).toBe("keyed limiter");
    expect(new KeyedRateLimiter({ maxRowsPerSecond: 1 }).for("a").name).toBe("keyed limiter");
  });

  test.each<[string, unknown]>([
    ["maxRowsPerSecond", { maxRowsPerSecond: 0 }],
    ["maxRowsPerSecond", {}],
    ["burstWindowSecs", { maxRowsPerSecond: 1, burstWindowSecs: -1 }],
    ["maxQueue", { maxRowsPerSecond: 1, maxQueue: 0.5 }],
    ["name", { maxRowsPerSecond: 1, name: 5 }],
    ["clock", { maxRowsPerSecond: 1, clock: { now: () => 0 } }],
    ["options", undefined],
    ["options", null],
    ...[0, -1, 1.5, NaN, -Infinity, "5", null, 5n, 2 ** 53].map((maxKeys): [string, unknown] => [
      "maxKeys",
      { maxRowsPerSecond: 1, maxKeys },
    ]),
  ])("a bad %s is refused at once, by name: %j", (option, options) => {
    const make = (): unknown => new KeyedRateLimiter(options as KeyedRateLimiterOptions);
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(`"${option}"`);
  });

  test.each([1, 2 ** 53 - 1, Infinity, undefined])("maxKeys may be %p", (maxKeys) => {
    const { keyed } = setUpKeyed(1, 1, { maxKeys });
    expect(keyed.tryAcquire("a")).toBe(true);
  });

  test("initialTokens is none: a key that comes back full must not come back with less", async () => {
    const { clock, keyed } = setUpKeyed(1, 4, { initialTokens: 1 } as Partial<KeyedRateLimiterOptions>);
    expect(keyed.for("a").stats().available).toBe(4);
    keyed.for("a").charge(2);
    await clock.advance(2_000);
    expect(keyed.size).toBe(0);
    expect(keyed.for("a").stats().available).toBe(4);
  });

  test("are read once: what becomes of the object later changes nothing", () => {
    const options = { maxRowsPerSecond: 1, burstWindowSecs: 3 };
    const keyed = new KeyedRateLimiter(options);
    options.burstWindowSecs = 8;
    expect(keyed.for("a").stats().capacity).toBe(3);
  });

  test("without a limit nobody waits, and no key stays", async () => {
    const { clock, keyed } = setUpKeyed(Infinity, Infinity, { burstWindowSecs: 1, maxKeys: 1 });
    for (let key = 0; key < 100; key += 1) await keyed.acquire(String(key), 1_000_000);
    expect(keyed.size).toBe(0);
    expect(clock.delays).toEqual([]);
  });
});

describe("close", () => {
  test("rejects those who wait for any key, with the reason as cause", async () => {
    const { clock, keyed } = setUpKeyed(1, 1, { name: "hosts" });
    const trace = new Trace(clock);
    for (const key of ["a", "a", "b", "b", "b"]) trace.follow(key, keyed.acquire(key));
    const reason = new Error("over");
    keyed.close(reason);
    await clock.advance(60_000);
    expect(trace.events).toEqual(["a t0", "b t0", "a failed t0", "b failed t0", "b failed t0"]);
    expect(trace.reasonOf("b")).toBeInstanceOf(LimiterClosedError);
    expect(trace.reasonOf("b")).toMatchObject({ limiter: "hosts", cause: reason });
    expect(clock.pending).toBe(0);
  });

  test("refuses whoever comes later, for keys that are known and new ones", async () => {
    const { keyed } = setUpKeyed(1, 5);
    keyed.tryAcquire("known");
    keyed.close("over");
    for (const key of ["known", "new"]) {
      await expect(keyed.acquire(key)).rejects.toMatchObject({ code: "LIMITER_CLOSED", cause: "over" });
      await expect(keyed.for(key).acquire()).rejects.toMatchObject({ cause: "over" });
      expect(() => keyed.tryAcquire(key)).toThrow(LimiterClosedError);
      expect(keyed.for(key).estimateWaitMs()).toBe(Infinity);
    }
  });

  test("closes a limiter that somebody has kept, also when its key was dropped", async () => {
    const { keyed } = setUpKeyed(1, 5);
    const kept = keyed.for("a");
    expect(keyed.size).toBe(0);
    keyed.close("over");
    await expect(kept.acquire()).rejects.toMatchObject({ code: "LIMITER_CLOSED", cause: "over" });
  });

  test("twice is once: the first reason stays", async () => {
    const { keyed } = setUpKeyed(1, 5);
    keyed.close("first");
    keyed.close("second");
    await expect(keyed.acquire("a")).rejects.toMatchObject({ cause: "first" });
  });

  test("new keys are refused as closed, not for their number, and none is kept", async () => {
    const { keyed } = setUpKeyed<number>(1, 5, { maxKeys: 2 });
    keyed.tryAcquire(1);
    keyed.tryAcquire(2);
    keyed.close("over");
    for (let key = 3; key < 10; key += 1)
      await expect(keyed.acquire(key)).rejects.toMatchObject({ code: "LIMITER_CLOSED", cause: "over" });
    expect(keyed.size).toBe(2);
  });

  test("is what `using` does", async () => {
    let kept: KeyedRateLimiter<string>;
    {
      using keyed = new KeyedRateLimiter<string>({ maxRowsPerSecond: 1 });
      kept = keyed;
    }
    await expect(kept.acquire("a")).rejects.toBeInstanceOf(LimiterClosedError);
  });
});
