import { describe, expect, test } from "@jest/globals";
import { KeyLimitError } from "../../../src/rate-limit/index.js";
import { setUpKeyed } from "./support/keyed.js";
import { heapInUse } from "./support/memory.js";
import { Trace } from "./support/trace.js";

describe("maxKeys", () => {
  test("a key too many is a rejection of acquire and a throw of what returns at once", async () => {
    const { keyed } = setUpKeyed(1, 10, { maxKeys: 2, name: "hosts" });
    await keyed.acquire("a");
    await keyed.acquire("b");
    const refused = keyed.acquire("c");
    await expect(refused).rejects.toBeInstanceOf(KeyLimitError);
    await expect(refused).rejects.toMatchObject({ code: "KEY_LIMIT", limiter: "hosts", maxKeys: 2 });
    await expect(refused).rejects.toThrow(
      'Keyed limiter "hosts" holds 2 keys, as many as maxKeys allows, and those it has looked at are in use. Call later, when a key has refilled, or raise maxKeys.',
    );
    expect(() => keyed.tryAcquire("c")).toThrow(KeyLimitError);
    expect(() => keyed.for("c")).toThrow(KeyLimitError);
    expect(keyed.size).toBe(2);
  });

  test("keys in use go on as before, and lose nothing to those that are refused", async () => {
    const { clock, keyed } = setUpKeyed(1, 2, { maxKeys: 3 });
    const trace = new Trace(clock);
    keyed.for("debt").charge(5);
    keyed.for("pause").pause(10_000);
    for (const label of ["a1", "a2", "a3"]) trace.follow(label, keyed.acquire("line"));
    for (let stranger = 0; stranger < 100; stranger += 1)
      await expect(keyed.acquire(`stranger ${String(stranger)}`)).rejects.toBeInstanceOf(KeyLimitError);
    expect(keyed.for("debt").stats().available).toBe(-3);
    expect(keyed.for("pause").stats().pausedForMs).toBe(10_000);
    expect(keyed.for("line").stats()).toMatchObject({ available: 0, queued: 1 });
    await clock.advance(1_000);
    expect(trace.events).toEqual(["a1 t0", "a2 t0", "a3 t1000"]);
    expect(keyed.tryAcquire("debt")).toBe(false);
  });

  test("a key that has refilled makes room at once, whichever it is", async () => {
    for (const refilled of [0, 1, 2, 3, 4]) {
      const { clock, keyed } = setUpKeyed<number>(1, 10, { maxKeys: 5 });
      for (let key = 0; key < 5; key += 1) keyed.tryAcquire(key, key === refilled ? 1 : 2);
      await clock.advance(999);
      expect(() => keyed.for(5)).toThrow(KeyLimitError);
      await clock.advance(1);
      expect(keyed.tryAcquire(5)).toBe(true);
      expect(() => keyed.for(6)).toThrow(KeyLimitError);
      expect(() => keyed.for(refilled)).toThrow(KeyLimitError);
    }
  });

  test("a refund makes room too", () => {
    const { keyed } = setUpKeyed(1, 10, { maxKeys: 1 });
    keyed.tryAcquire("a", 4);
    keyed.for("a").refund(3);
    expect(() => keyed.for("b")).toThrow(KeyLimitError);
    keyed.for("a").refund(1);
    expect(keyed.tryAcquire("b")).toBe(true);
  });

  test("one key is enough for any number, one after the other", async () => {
    const { clock, keyed } = setUpKeyed<number>(1, 1, { maxKeys: 1 });
    for (let key = 0; key < 100; key += 1) {
      expect(keyed.tryAcquire(key)).toBe(true);
      expect(() => keyed.tryAcquire(key + 1)).toThrow(KeyLimitError);
      await clock.advance(1_000);
    }
  });

  test("a limiter that a caller has kept works on after its key was dropped, though there is no place", async () => {
    const { clock, keyed } = setUpKeyed(1, 10, { maxKeys: 1 });
    const kept = keyed.for("a");
    await keyed.acquire("b", 5);
    // It would do all this if its key had not been dropped, and dropping changes nothing.
    expect(kept.stats()).toMatchObject({ available: 10, queued: 0 });
    expect(kept.estimateWaitMs(11)).toBe(1_000);
    await kept.onIdle();
    await kept.acquire(4);
    expect(kept.tryAcquire()).toBe(true);
    kept.charge(7);
    expect(keyed.for("a").stats().available).toBe(-2);
    expect(keyed.for("b").stats().available).toBe(5);
    expect(keyed.size).toBe(2);
    // A new key waits for both.
    expect(() => keyed.for("c")).toThrow(KeyLimitError);
    await clock.advance(5_000);
    expect(keyed.size).toBe(1);
    expect(() => keyed.for("c")).toThrow(KeyLimitError);
    await clock.advance(7_000);
    expect(keyed.tryAcquire("c")).toBe(true);
  });

  test("a kept limiter can be closed though there is no place", async () => {
    const { keyed } = setUpKeyed(1, 10, { maxKeys: 1 });
    {
      using kept = keyed.for("a");
      await keyed.acquire("b");
      expect(kept.stats().available).toBe(10);
    }
    await expect(keyed.acquire("a")).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
  });

  test("a flood of refused keys does not look at all keys each time", async () => {
    let looks = 0;
    const { clock, keyed } = setUpKeyed<number>(1, 10, { maxKeys: 20_000 });
    for (let key = 0; key < 20_000; key += 1) keyed.tryAcquire(key);
    const now = clock.now.bind(clock);
    clock.now = () => {
      looks += 1;
      return now();
    };
    for (let key = 0; key < 10; key += 1) expect(() => keyed.for(-1 - key)).toThrow(KeyLimitError);
    expect(looks / 10).toBeLessThan(5_000);
    await clock.advance(1_000);
    expect(keyed.tryAcquire(-1)).toBe(true);
  });

  test("Infinity, the default, refuses none", () => {
    const { keyed } = setUpKeyed<number>(1, 10);
    for (let key = 0; key < 5_000; key += 1) keyed.tryAcquire(key);
    expect(keyed.size).toBe(5_000);
  });
});

/**
 * Keys whose memory tells whether the keyed limiter still holds them. Asking `size` would not do: it drops what it can.
 */
class WeakKeys {
  readonly #made: WeakRef<object>[] = [];

  make(): object {
    const key = {};
    this.#made.push(new WeakRef(key));
    return key;
  }

  async held(): Promise<number> {
    await heapInUse(); // collects what nobody holds
    return this.#made.filter((key) => key.deref() !== undefined).length;
  }
}

describe("the keys that are held", () => {
  test("of a stream of ever new ones are about twice those in use, as long as it may last", async () => {
    const { clock, keyed } = setUpKeyed<object>(1, 10);
    const keys = new WeakKeys();
    const counts: number[] = [];
    // 100 new keys a second, each in use for 2 s.
    for (let round = 0; round < 5; round += 1) {
      for (let call = 0; call < 1_000; call += 1) {
        keyed.tryAcquire(keys.make(), 2);
        await clock.advance(10);
      }
      counts.push(await keys.held());
    }
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(199);
    expect(Math.max(...counts)).toBeLessThanOrEqual(450);
    expect(keyed.size).toBeLessThanOrEqual(201);
  }, 60_000);

  test("of a crowd that has gone are dropped while a few new ones come", async () => {
    const { clock, keyed } = setUpKeyed<object>(1, 10);
    const keys = new WeakKeys();
    for (let key = 0; key < 5_000; key += 1) keyed.tryAcquire(keys.make());
    expect(await keys.held()).toBe(5_000);
    await clock.advance(1_000);
    for (let key = 0; key < 10; key += 1) keyed.tryAcquire(keys.make());
    expect(await keys.held()).toBe(10);
  }, 60_000);

  test("of a crowd that has gone are dropped too while only known keys are asked for", async () => {
    const { clock, keyed } = setUpKeyed<object>(1, 10);
    const keys = new WeakKeys();
    const known = {};
    for (let key = 0; key < 5_000; key += 1) keyed.tryAcquire(keys.make());
    keyed.tryAcquire(known);
    await clock.advance(1_000);
    for (let call = 0; call < 10; call += 1) keyed.tryAcquire(known);
    expect(await keys.held()).toBeLessThanOrEqual(1_000);
  }, 60_000);

  test("that are in use do not shield those behind them", async () => {
    const { clock, keyed } = setUpKeyed<object>(1, 10);
    const keys = new WeakKeys();
    for (let key = 0; key < 500; key += 1) keyed.for(keys.make()).setRate({ maxRowsPerSecond: 2 });
    for (let key = 0; key < 500; key += 1) keyed.tryAcquire(keys.make());
    await clock.advance(1_000);
    for (let key = 0; key < 260; key += 1) {
      keyed.tryAcquire(keys.make());
      await clock.advance(1_000);
    }
    expect(await keys.held()).toBeLessThanOrEqual(510);
  }, 60_000);
});

test("1,000,000 keys touched once cost bounded memory once they have refilled", async () => {
  const { clock, keyed } = setUpKeyed<number>(1, 10);
  const touch = async (first: number, count: number): Promise<void> => {
    for (let key = first; key < first + count; key += 1) {
      keyed.tryAcquire(key);
      // 10,000 keys a second, so as many are in use at once.
      if (key % 1_000 === 999) await clock.advance(100);
    }
  };
  await touch(0, 50_000);
  const before = await heapInUse();
  await touch(50_000, 1_000_000);
  // A million limiters would be hundreds of MiB.
  expect((await heapInUse()) - before).toBeLessThan(4 * 2 ** 20);
  await clock.advance(1_000);
  expect(keyed.size).toBe(0);
  expect((await heapInUse()) - before).toBeLessThan(2 ** 20);
}, 60_000);
