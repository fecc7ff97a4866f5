import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { describeWithRedis, RedisServer } from "../../support/redis-server.js";

const LIMIT_MS = 60_000;
const PROGRAM = fileURLToPath(new URL("shared-process.ts", import.meta.url));

const COUNT = 4;
const RATE = 400;
const BURST_SECS = 0.1;

/** How far apart answers may come, in milliseconds, on a busy machine: what tokens are granted late by. */
const JITTER_MS = 150;

const now = (): number => performance.timeOrigin + performance.now();

describeWithRedis("processes that share a limiter", () => {
  let server: RedisServer;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    server = await RedisServer.start();
  }, LIMIT_MS);

  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await server.stop();
  });

  test(
    "keep the bound together, each takes a share, and one that is killed takes next to nothing along",
    async () => {
      const plan = { port: server.port, name: "p", maxRowsPerSecond: RATE, burstWindowSecs: BURST_SECS };
      const times = Array.from({ length: COUNT }, (_, index): number[] => {
        const child = fork(PROGRAM, [JSON.stringify(plan)], {
          execArgv: ["--import", "tsx"],
          env: { ...process.env, NODE_OPTIONS: "" },
        });
        children[index] = child;
        return [];
      });
      await Promise.all(children.map((child) => once(child, "message")));
      for (const [index, child] of children.entries()) {
        child.on("message", (time: number) => times[index]?.push(time));
        child.send("go");
      }
      await pass(2000);
      const [victim, ...others] = children;
      victim?.kill("SIGKILL");
      const killedAt = now();
      await pass(2000);
      const endedAt = now();
      for (const child of others) child.kill("SIGKILL");
      await Promise.all(others.map((child) => once(child, "exit")));

      const all = times.flat().sort((a, b) => a - b);
      expect(mostAbove(all)).toBeLessThanOrEqual(1 + RATE * (BURST_SECS + JITTER_MS / 1000));

      const before = times.map((own) => own.filter((time) => time < killedAt).length);
      const total = before.reduce((sum, own) => sum + own);
      expect(total).toBeGreaterThan(0.6 * RATE * 2);
      for (const own of before) expect(own).toBeGreaterThan((0.35 * total) / COUNT);

      // A chunk is 50 ms of the rate. The rest of what the others miss is what a busy machine takes.
      const after = times.slice(1).flatMap((own) => own.filter((time) => time >= killedAt && time < endedAt));
      const chunk = 0.05 * RATE;
      expect(after.length).toBeGreaterThan((RATE * (endedAt - killedAt)) / 1000 - chunk - 0.2 * RATE);
      for (const own of times.slice(1)) expect(own.some((time) => time > endedAt - 500)).toBe(true);
    },
    LIMIT_MS,
  );
});

/** By how many tokens the fullest window goes above what the rate gives in its length. */
function mostAbove(times: readonly number[]): number {
  let most = 0;
  let least = Infinity;
  for (const [index, time] of times.entries()) {
    const ahead = index - (RATE * time) / 1000;
    least = Math.min(least, ahead);
    most = Math.max(most, ahead - least + 1);
  }
  return most;
}
