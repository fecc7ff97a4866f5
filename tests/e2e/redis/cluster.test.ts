import { setTimeout as pass } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Cluster, Redis } from "ioredis";
import { createCluster } from "redis";
import { RedisRateBudget, RedisRateLimiter } from "tidegate/redis";
import { describeWithRedis, RedisNode } from "../../support/redis-server.js";

const LIMIT_MS = 60_000;
const SLOTS = 16_384;

describeWithRedis("a cluster of two nodes", () => {
  let nodes: [RedisNode, RedisNode];

  beforeAll(async () => {
    nodes = await Promise.all([RedisNode.start(), RedisNode.start()]);
    const clients = nodes.map(({ port }) => new Redis(port, "127.0.0.1"));
    await clients[0]?.call("CLUSTER", "ADDSLOTSRANGE", "0", String(SLOTS / 2 - 1));
    await clients[1]?.call("CLUSTER", "ADDSLOTSRANGE", String(SLOTS / 2), String(SLOTS - 1));
    const { port, busPort } = nodes[1];
    await clients[0]?.call("CLUSTER", "MEET", "127.0.0.1", String(port), String(busPort));
    for (const client of clients) {
      while (!String(await client.call("CLUSTER", "INFO")).includes("cluster_state:ok")) await pass(50);
      while (!String(await client.call("CLUSTER", "INFO")).includes("cluster_known_nodes:2")) await pass(50);
      client.disconnect();
    }
  }, LIMIT_MS);

  afterAll(async () => {
    for (const node of nodes) await node.stop();
  });

  // Names whose keys are on one node, and on the other.
  const NAMES = ["a", "b", "c", "d"];

  test(
    "of ioredis: each name has its node, and processes share it",
    async () => {
      const roots = nodes.map(({ port }) => ({ host: "127.0.0.1", port }));
      const client = new Cluster(roots, { retryDelayOnFailover: 0 });
      for (const name of NAMES) {
        const [one, other] = [1, 2].map(
          () => new RedisRateLimiter({ client, name, maxRowsPerSecond: 0.01, burstWindowSecs: 1000 }),
        );
        await one?.acquire(4);
        await other?.acquire(4);
        expect(await one?.tryAcquire(3)).toBe(false);
        expect((await one?.stats())?.available).toBeCloseTo(2, 1);
      }
      client.disconnect();
    },
    LIMIT_MS,
  );

  test(
    "of node-redis: likewise, and for a budget",
    async () => {
      const client = createCluster({
        rootNodes: nodes.map(({ port }) => ({ url: `redis://127.0.0.1:${String(port)}` })),
      });
      await client.connect();
      for (const name of NAMES) {
        const budget = new RedisRateBudget(
          { requests: { maxRowsPerSecond: 0.01, burstWindowSecs: 1000 }, tokens: { maxRowsPerSecond: 100 } },
          { client, name: `${name}-budget` },
        );
        const permit = await budget.acquire({ requests: 3, tokens: 10 });
        await permit.settle({ requests: 1 });
        expect((await budget.stats()).dimensions.requests.available).toBeCloseTo(9, 1);
      }
      client.destroy();
    },
    LIMIT_MS,
  );

  test("a cluster that sends again by itself is refused", () => {
    const client = new Cluster([{ host: "127.0.0.1", port: nodes[0].port }], { lazyConnect: true });
    expect(() => new RedisRateLimiter({ client, name: "x", maxRowsPerSecond: 1 })).toThrow(
      /retryDelayOnFailover: 0/,
    );
    client.disconnect();
  });
});
