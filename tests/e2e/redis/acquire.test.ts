import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { type Limiter, type LineOptions, RateLimiter } from "tidegate/rate-limit";
import { RedisRateLimiter } from "tidegate/redis";
import { describeWithRedis, RedisServer } from "../../support/redis-server.js";

// What `acquire` promises, whatever the time: the same tests for a bucket of this process and for one of the store.

const LIMIT_MS = 60_000;

/** What both kinds have; what needs the store is a promise in one of them. */
interface Subject extends Limiter {
  tryAcquire(n?: number): boolean | Promise<boolean>;
  onIdle(): Promise<void>;
  close(reason?: unknown): void;
  wrap: RateLimiter["wrap"];
  stats(): Counts | Promise<Counts>;
}

type Counts = Pick<ReturnType<RateLimiter["stats"]>, "queued" | "granted" | "grantedTokens" | "aborted">;

type Options = { rate: number; capacity: number } & Pick<LineOptions, "maxQueue">;

const SLOW = { rate: 0.01, capacity: 3 };
const FAST = { rate: 500, capacity: 1 };

describeWithRedis("acquire, in this process and in a store", () => {
  let server: RedisServer;
  let client: Redis;
  let made = 0;

  beforeAll(async () => {
    server = await RedisServer.start();
    client = new Redis(server.port, "127.0.0.1", { autoResendUnfulfilledCommands: false });
  }, LIMIT_MS);

  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  const rateOf = ({ rate, capacity }: Options) => ({
    maxRowsPerSecond: rate,
    burstWindowSecs: capacity / rate,
  });
  const lineOf = ({ maxQueue }: Options) => ({ name: `of-${String((made += 1))}`, maxQueue });

  describe.each<[string, (options: Options) => Subject]>([
    ["RateLimiter", (options) => new RateLimiter({ ...rateOf(options), ...lineOf(options) })],
    [
      "RedisRateLimiter",
      (options) => new RedisRateLimiter({ client, ...rateOf(options), ...lineOf(options) }),
    ],
  ])("%s", (_kind, make) => {
    /** One whose tokens are gone, for minutes unless another rate is given. */
    async function makeEmpty(options: Partial<Options> = {}): Promise<Subject> {
      const limiter = make({ ...SLOW, ...options });
      await limiter.acquire(options.capacity ?? SLOW.capacity);
      return limiter;
    }

    test.each([-1, 0.5, NaN, Infinity, "1"])("refuses n = %p", async (n) => {
      const limiter = make(SLOW);
      await expect(limiter.acquire(n as number)).rejects.toMatchObject({
        code: "ARGUMENT_INVALID",
        option: "n",
      });
      expect(await limiter.stats()).toMatchObject({ granted: 0, aborted: 0 });
    });

    test.each<[string, object]>([
      ["maxWaitMs", { maxWaitMs: -1 }],
      ["maxWaitMs", { maxWaitMs: NaN }],
      ["signal", { signal: "no" }],
    ])("refuses a bad %s", async (option, options) => {
      const call = make(SLOW).acquire(1, options);
      await expect(call).rejects.toMatchObject({ code: "ARGUMENT_INVALID", option });
    });

    test("an n of 0 is granted at once, tokens or not, and counts as nothing", async () => {
      const limiter = await makeEmpty();
      void limiter.acquire().catch(() => undefined);
      await limiter.acquire(0, { maxWaitMs: 0 });
      expect(await limiter.tryAcquire(0)).toBe(true);
      expect(await limiter.stats()).toMatchObject({ granted: 1, grantedTokens: 3, queued: 1 });
      limiter.close();
    });

    test("grants the burst, and then in the order of the calls, large and small", async () => {
      const limiter = make({ rate: 500, capacity: 2 });
      const order: number[] = [];
      const costs = [2, 5, 1, 3, 1, 1, 4, 1];
      await Promise.all(costs.map((n, index) => limiter.acquire(n).then(() => order.push(index))));
      expect(order).toEqual(costs.map((_, index) => index));
      expect(await limiter.stats()).toMatchObject({ granted: 8, grantedTokens: 18, queued: 0, aborted: 0 });
    });

    test("a call for more than the capacity is served", async () => {
      const limiter = make(FAST);
      const startedAt = performance.now();
      await limiter.acquire(51);
      expect(performance.now() - startedAt).toBeGreaterThan(95);
      expect(await limiter.stats()).toMatchObject({ granted: 1, grantedTokens: 51 });
    });

    test("a signal that is aborted already rejects with its reason, tokens or not", async () => {
      const limiter = make(SLOW);
      await expect(limiter.acquire(1, { signal: AbortSignal.abort("gone") })).rejects.toBe("gone");
      expect(await limiter.stats()).toMatchObject({ granted: 0, queued: 0, aborted: 0 });
    });

    test("a signal takes a waiting call out at once; those behind it move up", async () => {
      const limiter = await makeEmpty({ rate: 20, capacity: 1 });
      const leave = new AbortController();
      const large = limiter.acquire(10_000, { signal: leave.signal });
      const small = limiter.acquire(1);
      leave.abort("gone");
      await expect(large).rejects.toBe("gone");
      await small;
      expect(await limiter.stats()).toMatchObject({ granted: 2, grantedTokens: 2, queued: 0, aborted: 1 });
    });

    test("a signal that aborts after the grant changes nothing", async () => {
      const limiter = make(SLOW);
      const late = new AbortController();
      await limiter.acquire(1, { signal: late.signal });
      late.abort();
      expect(await limiter.stats()).toMatchObject({ granted: 1, aborted: 0 });
    });

    test("a wait that does not fit in maxWaitMs rejects, and spends nothing", async () => {
      const limiter = await makeEmpty();
      const call = limiter.acquire(1, { maxWaitMs: 200 });
      await expect(call).rejects.toMatchObject({ code: "WAIT_TOO_LONG", maxWaitMs: 200 });
      expect(await limiter.stats()).toMatchObject({ granted: 1, queued: 0 });
    });

    test("a call that fits is granted within maxWaitMs", async () => {
      const limiter = await makeEmpty({ rate: 50, capacity: 1 });
      await limiter.acquire(1, { maxWaitMs: 10_000 });
      expect(await limiter.stats()).toMatchObject({ granted: 2 });
    });

    test("maxQueue refuses who comes to a full line, and lets in when it is not", async () => {
      const limiter = await makeEmpty({ maxQueue: 1 });
      const leave = new AbortController();
      const waits = limiter.acquire(1, { signal: leave.signal });
      await expect(limiter.acquire()).rejects.toMatchObject({ code: "QUEUE_FULL", maxQueue: 1 });
      leave.abort("gone");
      await expect(waits).rejects.toBe("gone");
      const next = limiter.acquire();
      expect(await limiter.stats()).toMatchObject({ queued: 1 });
      limiter.close();
      await expect(next).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
    });

    test("close rejects who waits and who comes later, with its first reason as the cause", async () => {
      const limiter = await makeEmpty();
      const waits = [limiter.acquire(), limiter.acquire(2)];
      limiter.close("done");
      limiter.close("again");
      const closed = { code: "LIMITER_CLOSED", cause: "done" };
      for (const call of waits) await expect(call).rejects.toMatchObject(closed);
      for (const n of [0, 1]) await expect(limiter.acquire(n)).rejects.toMatchObject(closed);
      await expect((async () => await limiter.tryAcquire())()).rejects.toMatchObject(closed);
      expect(await limiter.stats()).toMatchObject({ queued: 0, granted: 1, aborted: 2 });
    });

    test("the order of the checks: n, options, closed, signal, line, wait", async () => {
      const limiter = await makeEmpty({ maxQueue: 1 });
      const waits = limiter.acquire();
      const signal = AbortSignal.abort("gone");
      await expect(limiter.acquire(1, { maxWaitMs: 0 })).rejects.toMatchObject({ code: "QUEUE_FULL" });
      await expect(limiter.acquire(1, { signal })).rejects.toBe("gone");
      limiter.close();
      await expect(waits).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
      await expect(limiter.acquire(1, { signal })).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
      await expect(limiter.acquire(1, { signal, maxWaitMs: -1 })).rejects.toMatchObject({
        option: "maxWaitMs",
      });
      await expect(limiter.acquire(-1, { signal, maxWaitMs: -1 })).rejects.toMatchObject({ option: "n" });
    });

    test("tryAcquire takes or does not, and never while anyone waits", async () => {
      const limiter = make(SLOW);
      expect(await limiter.tryAcquire(4)).toBe(false);
      expect(await limiter.tryAcquire(2)).toBe(true);
      const waits = limiter.acquire(2);
      expect(await limiter.tryAcquire()).toBe(false);
      limiter.close();
      await expect(waits).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
      expect(await limiter.stats()).toMatchObject({ granted: 1, grantedTokens: 2 });
    });

    test("onIdle comes with the last who waited, and at once when nobody does", async () => {
      const limiter = make(FAST);
      await limiter.onIdle();
      const order: string[] = [];
      const calls = ["a", "b", "c"].map((label) => limiter.acquire().then(() => order.push(label)));
      await limiter.onIdle().then(() => order.push("idle"));
      await Promise.all(calls);
      expect(order).toEqual(["a", "b", "c", "idle"]);
    });

    test("wrap takes the cost of each call", async () => {
      const limiter = make(FAST);
      const send = limiter.wrap(
        (text: string) => Promise.resolve(text.toUpperCase()),
        (text) => text.length,
      );
      expect(await Promise.all([send("ab"), send("cde")])).toEqual(["AB", "CDE"]);
      expect(await limiter.stats()).toMatchObject({ granted: 2, grantedTokens: 5 });
    });
  });
});
