import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";
import { setTimeout as pass } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import * as ioredis6 from "ioredis";
import * as ioredis5 from "ioredis-5";
import * as iovalkey from "iovalkey";
import * as redis6 from "redis";
import * as redis5 from "redis-5";
import { type RedisClient, RedisRateBudget, RedisRateLimiter } from "tidegate/redis";
import { senderOf } from "../../../src/redis/client.js";
import { describeWithRedis, RedisServer } from "../../support/redis-server.js";

const LIMIT_MS = 60_000;

/** A client, and how it is closed. */
type Opened = readonly [client: RedisClient, close: () => unknown];

const KEEPS_QUIET = (): void => undefined;

function openCalling({ Redis }: Pick<typeof ioredis6, "Redis">, port: number): Opened {
  const client = new Redis(port, "127.0.0.1", { autoResendUnfulfilledCommands: false });
  client.on("error", KEEPS_QUIET);
  return [
    client,
    () => {
      client.disconnect();
    },
  ];
}

async function openConnected(
  client: RedisClient & { on(event: "error", listener: () => void): unknown } & {
    connect(): Promise<unknown>;
    destroy(): void;
  },
): Promise<Opened> {
  client.on("error", KEEPS_QUIET);
  await client.connect();
  return [
    client,
    () => {
      client.destroy();
    },
  ];
}

const CALLING: [string, Pick<typeof ioredis6, "Redis">][] = [
  ["ioredis 6", ioredis6],
  ["ioredis 5", ioredis5 as unknown as typeof ioredis6],
  ["iovalkey", iovalkey as unknown as typeof ioredis6],
];

const CLIENTS: [string, (server: RedisServer) => Opened | Promise<Opened>][] = [
  ...CALLING.map(([name, library]): (typeof CLIENTS)[number] => [
    name,
    ({ port }) => openCalling(library, port),
  ]),
  ["node-redis 6", ({ url }) => openConnected(redis6.createClient({ url }))],
  ["node-redis 5", ({ url }) => openConnected(redis5.createClient({ url }))],
  ["a pool of node-redis 6", ({ url }) => openConnected(redis6.createClientPool({ url }))],
  ["a pool of node-redis 5", ({ url }) => openConnected(redis5.createClientPool({ url }))],
  [
    "a function",
    async ({ url }) => {
      const client = redis6.createClient({ url });
      const [, close] = await openConnected(client);
      return [(args) => client.sendCommand(args), close];
    },
  ],
];

describeWithRedis("clients", () => {
  let server: RedisServer;
  let admin: ioredis6.Redis;

  beforeAll(async () => {
    server = await RedisServer.start();
    admin = new ioredis6.Redis(server.port, "127.0.0.1");
  }, LIMIT_MS);

  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });

  test.each(CLIENTS)(
    "works with %s",
    async (_name, open) => {
      await admin.flushall();
      await admin.script("FLUSH");
      const [client, close] = await open(server);
      const limiter = new RedisRateLimiter({
        client,
        name: "clients",
        maxRowsPerSecond: 20,
        burstWindowSecs: 0,
      });
      const startedAt = performance.now();
      for (let count = 0; count < 4; count += 1) await limiter.acquire();
      expect(performance.now() - startedAt).toBeGreaterThan(149);
      expect(await limiter.stats()).toMatchObject({ granted: 4, grantedTokens: 4, queued: 0 });

      // Unknown to the server now: what the client makes of NOSCRIPT has to be understood.
      await admin.script("FLUSH");
      await limiter.setRate({ maxRowsPerSecond: 0.01, burstWindowSecs: 1000 });
      await admin.script("FLUSH");
      await limiter.refund(5);
      expect(await limiter.tryAcquire(5)).toBe(true);
      expect(await limiter.tryAcquire(5)).toBe(false);
      await limiter.pause(60_000);
      expect(await limiter.stats()).toMatchObject({ capacity: 10, granted: 5, grantedTokens: 9 });
      expect((await limiter.stats()).pausedForMs).toBeGreaterThan(50_000);

      const budget = new RedisRateBudget(
        { requests: { maxRowsPerSecond: 0.01, burstWindowSecs: 1000 }, tokens: { maxRowsPerSecond: 100 } },
        { client, name: "clients-budget" },
      );
      const permit = await budget.acquire({ requests: 3, tokens: 10 });
      await permit.settle({ requests: 1 });
      expect((await budget.stats()).dimensions.requests.available).toBeCloseTo(9, 1);
      await close();
    },
    LIMIT_MS,
  );

  const SPIN = `local function now() local t = redis.call('TIME') return t[1] * 1000000 + t[2] end
    local ends = now() + 400000
    repeat until now() > ends
    return redis.call('INCR', KEYS[1])`;

  /** How often a command is carried out whose connection is lost while the server does it. */
  async function timesDone(send: (args: string[]) => Promise<unknown>, cut: () => void): Promise<number> {
    await admin.del("done");
    void send(["EVAL", SPIN, "1", "done"]).catch(KEEPS_QUIET);
    await pass(150);
    cut();
    // Time to connect, to send it again, and to carry it out again.
    await pass(1500);
    return Number(await admin.get("done"));
  }

  test.each(CALLING)(
    "F47: %s sends again by itself, and is refused; told not to, it does not",
    async (_name, { Redis }) => {
      for (const autoResendUnfulfilledCommands of [true, false]) {
        const client = new Redis(server.port, "127.0.0.1", { autoResendUnfulfilledCommands });
        client.on("error", KEEPS_QUIET);
        await client.ping();
        const make = (): unknown => new RedisRateLimiter({ client, name: "f47", maxRowsPerSecond: 1 });
        if (autoResendUnfulfilledCommands) expect(make).toThrow(/autoResendUnfulfilledCommands: false/);
        else make();
        const done = await timesDone(
          ([command = "", ...args]) => client.call(command, ...args),
          () => client.stream.destroy(),
        );
        expect(done).toBe(autoResendUnfulfilledCommands ? 2 : 1);
        client.disconnect();
      }
    },
    LIMIT_MS,
  );

  test.each(CALLING)(
    "a connection of %s that is lost in mid-call does not stop the line for longer than it takes to connect",
    async (_name, { Redis }) => {
      const client = new Redis(server.port, "127.0.0.1", { autoResendUnfulfilledCommands: false });
      client.on("error", KEEPS_QUIET);
      const limiter = new RedisRateLimiter({ client, name: "lost", maxRowsPerSecond: 100 });
      await limiter.acquire();
      const { stream } = client;
      await admin.call("CLIENT", "PAUSE", "300");
      const startedAt = performance.now();
      const calls = Promise.all(Array.from({ length: 5 }, () => limiter.acquire()));
      await pass(100);
      stream.destroy();
      await calls;
      // Without a word of the loss: the deadline, and ten of them until another call is sent.
      expect(performance.now() - startedAt).toBeLessThan(5000);
      client.disconnect();
    },
    LIMIT_MS,
  );

  test.each<[string, (url: string) => Promise<Opened>]>([
    ["node-redis 6", (url) => openConnected(redis6.createClient({ url }))],
    ["node-redis 5", (url) => openConnected(redis5.createClient({ url }))],
    ["a pool of node-redis 6", (url) => openConnected(redis6.createClientPool({ url }))],
    ["a pool of node-redis 5", (url) => openConnected(redis5.createClientPool({ url }))],
  ])(
    "%s does not send again",
    async (_name, open) => {
      const sockets: Socket[] = [];
      const between = createServer((socket) => {
        const onward = createConnection(server.port, "127.0.0.1");
        sockets.push(socket, onward);
        for (const end of [socket, onward]) end.on("error", KEEPS_QUIET);
        socket.pipe(onward).pipe(socket);
      }).listen(0, "127.0.0.1");
      await once(between, "listening");
      const { port } = between.address() as AddressInfo;
      const [client, close] = await open(`redis://127.0.0.1:${String(port)}`);
      const done = await timesDone(senderOf(client), () => {
        for (const socket of sockets) socket.destroy();
      });
      expect(done).toBe(1);
      await close();
      between.close();
    },
    LIMIT_MS,
  );

  test.each<[string, () => unknown]>([
    ["6", () => redis6.createSentinel({ name: "x", sentinelRootNodes: [{ host: "127.0.0.1", port: 1 }] })],
    ["5", () => redis5.createSentinel({ name: "x", sentinelRootNodes: [{ host: "127.0.0.1", port: 1 }] })],
  ])("a sentinel of node-redis %s is refused", (_version, make) => {
    const client = make() as RedisClient;
    expect(() => new RedisRateLimiter({ client, name: "x", maxRowsPerSecond: 1 })).toThrow(
      /maxCommandRediscovers: 0/,
    );
  });
});
