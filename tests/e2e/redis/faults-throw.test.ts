import { setTimeout as pass } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { CAPACITY, endOf, FaultRig, JITTER_MS, mostAboveRate, RATE } from "../../support/redis-fault-rig.js";
import { FAULTS } from "../../support/redis-faults.js";
import { describeWithRedis } from "../../support/redis-server.js";

const WAITERS = 20;

describeWithRedis("callers who are told of", () => {
  test.each(FAULTS)(
    "$name: those in line fail by the deadline of the store, later ones at once, and the store is found again",
    async (fault) => {
      await using rig = await FaultRig.open(fault);
      const limiters = [rig.limiter({ onStoreError: "throw" }), rig.limiter({ onStoreError: "throw" })];
      const idle = rig.limiter({ onStoreError: "throw" });
      const times: number[] = [];
      const acquire = async (limiter: (typeof limiters)[number]): Promise<void> => {
        await limiter.acquire();
        times.push(performance.now());
      };
      const calls = limiters.map((limiter) =>
        Promise.all(Array.from({ length: WAITERS }, () => endOf(acquire(limiter)))),
      );
      await pass(100);
      await rig.begin();

      const impatient = await rig.sendImpatient(idle);
      for (const { ms } of impatient) expect(ms).toBeLessThan(100 + JITTER_MS);
      const ends = await Promise.all(calls);
      const byThen = fault.isOutage ? fault.storeTimeoutMs + 300 + 2 * JITTER_MS : Infinity;
      for (const line of ends) {
        expect(Math.max(...line.map(({ ms }) => ms))).toBeLessThan(byThen);
        // Whoever came first was served first, and after the first failure nobody was.
        const granted = line.filter(({ how }) => how === "granted").length;
        const refused = Array.from({ length: WAITERS - granted }, () => "STORE_UNAVAILABLE");
        expect(line.slice(granted).map(({ how }) => how)).toEqual(refused);
        expect(granted === WAITERS).toBe(!fault.isOutage);
      }
      if (fault.isOutage) expect(impatient.map(({ how }) => how)).not.toContain("granted");

      await fault.end(rig);
      for (const limiter of [...limiters, idle])
        await rig.until(async () => (await endOf(acquire(limiter))).how === "granted");
      const bursts = fault.isFresh ? 2 : 1;
      expect(mostAboveRate(times)).toBeLessThanOrEqual(1 + bursts * CAPACITY + (RATE * JITTER_MS) / 1000);
      await rig.expectCalm();
    },
  );
});
