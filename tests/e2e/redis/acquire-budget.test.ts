import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { type AcquireOptions, RateBudget } from "tidegate/rate-limit";
import { RedisRateBudget } from "tidegate/redis";
import { describeWithRedis, RedisServer } from "../../support/redis-server.js";

// As acquire.test.ts, for budgets.

const LIMIT_MS = 60_000;

describeWithRedis("acquire of a budget, in this process and in a store", () => {
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

  type Calls = "requests" | "tokens";
  type Costs = Partial<Record<Calls, number>>;

  /** What both kinds have; what needs the store is a promise in one of them. */
  interface BudgetSubject {
    acquire(costs: Costs, options?: AcquireOptions): Promise<AnyPermit>;
    tryAcquire(costs: Costs): unknown;
    close(reason?: unknown): void;
    onIdle(): Promise<void>;
  }
  interface AnyPermit {
    readonly costs: Readonly<Record<Calls, number>>;
    settle(actual: Costs): unknown;
    refund(): unknown;
  }

  const dimensions = {
    requests: { maxRowsPerSecond: 500, burstWindowSecs: 0.01 },
    tokens: { maxRowsPerSecond: 0.01, burstWindowSecs: 1000 },
  };

  describe.each<[string, () => BudgetSubject]>([
    ["RateBudget", () => new RateBudget(dimensions)],
    ["RedisRateBudget", () => new RedisRateBudget(dimensions, { client, name: `of-${String((made += 1))}` })],
  ])("%s", (_kind, make) => {
    test.each<[string, object]>([
      ["requests", { requests: -1 }],
      ["bytes", { bytes: 1 }],
    ])("refuses bad %s", async (name, costs) => {
      const refused = make().acquire(costs);
      await expect(refused).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
      await expect(refused).rejects.toThrow(name);
    });

    test("gives a permit of all costs, which is used once", async () => {
      const permit = await make().acquire({ requests: 2 });
      expect(permit.costs).toEqual({ requests: 2, tokens: 0 });
      await permit.settle({ requests: 1 });
      expect(() => permit.refund()).toThrow(expect.objectContaining({ code: "PERMIT_USED" }));
    });

    test("what is settled or refunded can be taken again", async () => {
      const budget = make();
      const all = await budget.acquire({ tokens: 10 });
      expect(await budget.tryAcquire({ tokens: 4 })).toBeUndefined();
      await all.settle({ tokens: 6 });
      const rest = await budget.acquire({ tokens: 4 });
      await rest.refund();
      expect(await budget.tryAcquire({ tokens: 4 })).toBeDefined();
    });

    test("one dimension that is short holds back all who come later, in order", async () => {
      const budget = make();
      await budget.acquire({ tokens: 10 });
      const leave = new AbortController();
      const order: string[] = [];
      const short = budget.acquire({ tokens: 5 }, { signal: leave.signal });
      const calls = ["a", "b"].map((label) => budget.acquire({ requests: 1 }).then(() => order.push(label)));
      expect(await budget.tryAcquire({ requests: 1 })).toBeUndefined();
      await budget.acquire({});
      expect(order).toEqual([]);
      leave.abort("gone");
      await expect(short).rejects.toBe("gone");
      await Promise.all(calls);
      expect(order).toEqual(["a", "b"]);
      await budget.onIdle();
    });

    test("close rejects who waits and who comes later", async () => {
      const budget = make();
      await budget.acquire({ tokens: 10 });
      const waits = budget.acquire({ tokens: 1 });
      budget.close("done");
      for (const call of [waits, budget.acquire({ requests: 1 })])
        await expect(call).rejects.toMatchObject({ code: "LIMITER_CLOSED", cause: "done" });
    });
  });
});
