import { setTimeout as pass } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { CAPACITY, FaultRig, JITTER_MS, mostAboveRate, RATE } from "../../support/redis-fault-rig.js";
import { FAULTS } from "../../support/redis-faults.js";
import { describeWithRedis } from "../../support/redis-server.js";

const WAITERS = 20;
const IN_ORDER = Array.from({ length: WAITERS }, (_, index) => index);

describeWithRedis("callers who wait through", () => {
  test.each(FAULTS)(
    "$name: all are served in their order, at the rate, and those who leave cost nothing",
    async (fault) => {
      await using rig = await FaultRig.open(fault);
      const limiters = [rig.limiter(), rig.limiter()];
      const idle = rig.limiter();
      const orders = limiters.map((): number[] => []);
      const times: number[] = [];
      const calls = limiters.flatMap((limiter, process) =>
        IN_ORDER.map(async (index) => {
          await limiter.acquire();
          times.push(performance.now());
          orders[process]?.push(index);
        }),
      );
      const served = Promise.all(calls);
      served.catch(() => undefined);
      await pass(100);
      await rig.begin();

      const sentBefore = rig.sent.length;
      const impatient = await rig.sendImpatient(idle);
      for (const { ms } of impatient) expect(ms).toBeLessThan(100 + JITTER_MS);
      // Not one for each of the 60 who have left.
      expect(rig.sent.length - sentBefore).toBeLessThan(40);
      if (fault.isOutage) {
        expect(new Set(impatient.map(({ how }) => how))).toEqual(new Set(["WAIT_TOO_LONG"]));
        expect(times.length).toBeLessThan(2 * WAITERS);
      }

      const endedAt = performance.now();
      await fault.end(rig);
      await served;
      await idle.acquire();
      expect(performance.now() - endedAt).toBeLessThan(6000);
      expect(orders).toEqual([IN_ORDER, IN_ORDER]);
      const bursts = fault.isFresh ? 2 : 1;
      expect(mostAboveRate(times)).toBeLessThanOrEqual(1 + bursts * CAPACITY + (RATE * JITTER_MS) / 1000);
      await rig.expectCalm();
    },
  );
});
