import { setTimeout as pass } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import * as ioredis6 from "ioredis";
import * as ioredis5 from "ioredis-5";
import * as iovalkey from "iovalkey";
import * as redis6 from "redis";
import * as redis5 from "redis-5";
import { type RedisClient, RedisRateBudget, RedisRateLimiter } from "tidegate/redis";
import { describeWithRedis, RedisNode } from "../../support/redis-server.js";

const LIMIT_MS = 60_000;
const SLOTS = 16_384;

const CALLING: [string, Pick<typeof ioredis6, "Cluster">][] = [
  ["ioredis 6", ioredis6],
  ["ioredis 5", ioredis5 as unknown as typeof ioredis6],
  ["iovalkey", iovalkey as unknown as typeof ioredis6],
];

describeWithRedis("a cluster of two nodes", () => {
  let nodes: [RedisNode, RedisNode];

  beforeAll(async () => {
    nodes = await Promise.all([RedisNode.start(), RedisNode.start()]);
    const clients = nodes.map(({ port }) => new ioredis6.Redis(port, "127.0.0.1"));
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

  const budgetOf = (client: RedisClient, name: string): RedisRateBudget<"requests" | "tokens"> =>
    new RedisRateBudget(
      { requests: { maxRowsPerSecond: 0.01, burstWindowSecs: 1000 }, tokens: { maxRowsPerSecond: 100 } },
      { client, name: `${name}-budget` },
    );

  async function checkNames(client: RedisClient, prefix: string): Promise<void> {
    for (const name of NAMES.map((end) => `${prefix}-${end}`)) {
      const [one, other] = [1, 2].map(
        () => new RedisRateLimiter({ client, name, maxRowsPerSecond: 0.01, burstWindowSecs: 1000 }),
      );
      await one?.acquire(4);
      await other?.acquire(4);
      expect(await one?.tryAcquire(3)).toBe(false);
      expect((await one?.stats())?.available).toBeCloseTo(2, 1);
      const budget = budgetOf(client, name);
      const permit = await budget.acquire({ requests: 3, tokens: 10 });
      await permit.settle({ requests: 1 });
      expect((await budget.stats()).dimensions.requests.available).toBeCloseTo(9, 1);
    }
  }

  test.each(CALLING)(
    "of %s: each name has its node, and processes share it",
    async (name, { Cluster }) => {
      const client = new Cluster(
        nodes.map(({ port }) => ({ host: "127.0.0.1", port })),
        { retryDelayOnFailover: 0 },
      );
      await checkNames(client, name);
      client.disconnect();
    },
    LIMIT_MS,
  );

  test.each([
    ["node-redis 6", redis6.createCluster],
    ["node-redis 5", redis5.createCluster as unknown as typeof redis6.createCluster],
  ])(
    "of %s: likewise",
    async (name, createCluster) => {
      const client = createCluster({
        rootNodes: nodes.map(({ port }) => ({ url: `redis://127.0.0.1:${String(port)}` })),
      });
      await client.connect();
      await checkNames(client, name);
      client.destroy();
    },
    LIMIT_MS,
  );

  test.each(CALLING)("a cluster of %s that sends again by itself is refused", (_name, { Cluster }) => {
    const make = (options: object): RedisRateLimiter => {
      const client = new Cluster([{ host: "127.0.0.1", port: nodes[0].port }], {
        ...options,
        lazyConnect: true,
      });
      client.disconnect();
      return new RedisRateLimiter({ client, name: "x", maxRowsPerSecond: 1 });
    };
    expect(() => make({})).toThrow(/retryDelayOnFailover: 0/);
    const reconnecting = { retryDelayOnFailover: 0, clusterNodeRetryStrategy: () => 50 };
    expect(() => make(reconnecting)).toThrow(/redisOptions: \{ autoResendUnfulfilledCommands: false \}/);
    make({ ...reconnecting, redisOptions: { autoResendUnfulfilledCommands: false } });
  });
});
