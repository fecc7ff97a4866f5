import { setTimeout as pass } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { RateLimiter } from "tidegate";
import type { RedisRateLimiter } from "tidegate/redis";
import { CAPACITY, FaultRig, JITTER_MS, RATE } from "../../support/redis-fault-rig.js";
import { FAULTS } from "../../support/redis-faults.js";
import { describeWithRedis } from "../../support/redis-server.js";

const WAITERS = 20;
const IN_ORDER = Array.from({ length: WAITERS }, (_, index) => index);

describeWithRedis("callers with a local limiter for", () => {
  test.each(FAULTS)(
    "$name: it serves those in line in their order, and the store takes over by itself",
    async (fault) => {
      await using rig = await FaultRig.open(fault);
      const local = new RateLimiter({ maxRowsPerSecond: 100, burstWindowSecs: 0 });
      const make = (): RedisRateLimiter => rig.limiter({ onStoreError: local });
      const limiters = [make(), make()];
      const idle = make();
      const orders = limiters.map((): number[] => []);
      const startedAt = performance.now();
      const calls = limiters.flatMap((limiter, process) =>
        IN_ORDER.map((index) => limiter.acquire().then(() => orders[process]?.push(index))),
      );
      await pass(100);
      await rig.begin();
      const impatient = await rig.sendImpatient(idle);
      for (const { how, ms } of impatient) {
        expect(["granted", "WAIT_TOO_LONG"]).toContain(how);
        expect(ms).toBeLessThan(100 + JITTER_MS);
      }
      await Promise.all(calls);
      expect(orders).toEqual([IN_ORDER, IN_ORDER]);
      expect(local.stats().granted > 0).toBe(fault.isOutage);

      await fault.end(rig);
      for (const limiter of [...limiters, idle]) {
        const { granted } = limiter.limiterReport();
        await rig.until(async () => {
          await limiter.acquire();
          return limiter.limiterReport().granted > granted;
        });
      }
      const borrowed = local.stats().granted;
      for (const limiter of [...limiters, idle]) await limiter.acquire();
      expect(local.stats().granted).toBe(borrowed);
      const seconds = (performance.now() - startedAt + JITTER_MS) / 1000;
      const bursts = fault.isFresh ? 2 : 1;
      const shared = [...limiters, idle].reduce((sum, limiter) => sum + limiter.limiterReport().granted, 0);
      expect(shared).toBeLessThanOrEqual(bursts * CAPACITY + RATE * seconds);
      await rig.expectCalm();
    },
  );
});
