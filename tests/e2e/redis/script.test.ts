import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { SCRIPT } from "../../../src/redis/script.js";
import { describeWithRedis, RedisServer } from "../../support/redis-server.js";

const HOUR_MICROS = 3_600_000_000;

describeWithRedis("the script", () => {
  let server: RedisServer;
  let client: Redis;

  beforeAll(async () => {
    server = await RedisServer.start();
    client = new Redis(server.port, "127.0.0.1", { autoResendUnfulfilledCommands: false });
  }, 60_000);

  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  beforeEach(async () => {
    await client.flushall();
  });

  /** Of a bucket of 10 at 10 a second, unless told otherwise. */
  async function run(
    command: string,
    args: (string | number)[] = [],
    rate = 10,
    window = 1,
  ): Promise<Answer> {
    const answer = (await client.eval(SCRIPT, 1, "key", command, rate, window, ...args)) as string[];
    const [epoch = "", ...numbers] = answer;
    const [rateNow, windowNow, level = NaN, hold = NaN, place = NaN, ...found] = numbers.map(Number);
    return { epoch, shape: [rateNow, windowNow], level, hold, place, found };
  }

  interface Answer {
    readonly epoch: string;
    readonly shape: (number | undefined)[];
    readonly level: number;
    readonly hold: number;
    readonly place: number;
    readonly found: number[];
  }

  /** Moves what the script has noted by so much, as if the server's clock had gone the other way. */
  async function shift(micros: number): Promise<void> {
    for (const field of ["since", "hold"]) {
      const at = Number(await client.hget("key", field));
      if (at > 0) await client.hset("key", field, String(at + micros));
    }
  }

  test("reserves the head, and those due within the horizon behind it", async () => {
    const { found, place, level } = await run("reserve", [50_000, 30, 1, 5]);
    expect(found.map((micros) => Math.round(micros / 1000))).toEqual([2000]);
    expect([place, Math.round(level)]).toEqual([30, -20]);
    const next = await run("reserve", [400_000, 1, 2, 3]);
    expect(next.found).toHaveLength(2);
    expect(next.place).toBe(33);
  });

  test("what is due at a place is known later on, also after a new rate and behind a pause", async () => {
    const { epoch, place } = await run("reserve", [0, 30]);
    await run("reserve", [0, 40]);
    const dueMs = async (): Promise<number> => {
      const { found } = await run("look", [epoch, place]);
      return Math.round((found[0] ?? NaN) / 100_000) * 100;
    };
    expect(await dueMs()).toBe(2000);
    await run("rate", [20, ""]);
    expect(await dueMs()).toBe(1000);
    await run("pause", [500]);
    expect(await dueMs()).toBe(1000);
    await run("pause", [3000]);
    expect(await dueMs()).toBe(3000);
    expect((await run("look", ["other", place])).found).toEqual([]);
    expect((await run("reserve", [0, 1])).found).toEqual([]);
  });

  test("only the last place goes back, and only once", async () => {
    const first = await run("reserve", [0, 5]);
    const second = await run("reserve", [0, 4]);
    expect((await run("give", [first.epoch, first.place, 5])).place).toBe(9);
    expect((await run("give", ["other", second.place, 4])).place).toBe(9);
    const back = await run("give", [first.epoch, second.place, 4]);
    expect(back.place).toBe(5);
    expect(back.level).toBeGreaterThanOrEqual(5);
    expect((await run("give", [first.epoch, second.place, 4])).place).toBe(5);
  });

  test("takes what is there, or nothing", async () => {
    expect((await run("take", [11])).found).toEqual([]);
    expect((await run("take", [10])).found).toEqual([1]);
    expect((await run("take", [5])).found).toEqual([]);
    await run("refund", [100]);
    await run("pause", [1000]);
    expect((await run("take", [1])).found).toEqual([]);
    await run("resume");
    expect((await run("take", [2])).found).toEqual([]);
    expect((await run("take", [1])).found).toEqual([1]);
  });

  test("a clock that is set back costs nobody an hour and gives nobody tokens", async () => {
    await run("charge", [15]);
    await run("pause", [2000]);
    await shift(HOUR_MICROS);
    const { level, hold } = await run("look", [""]);
    expect(level).toBeLessThan(-4);
    expect(level).toBeGreaterThanOrEqual(-5);
    expect(hold).toBeGreaterThan(1_500_000);
    expect(hold).toBeLessThanOrEqual(2_000_000);
  });

  test("a clock that is set forward fills the bucket, and a pause leaves one token", async () => {
    await run("charge", [15]);
    await shift(-HOUR_MICROS);
    expect((await run("look", [""])).level).toBe(10);
    await run("pause", [500]);
    await shift(-600_000);
    const { level, hold } = await run("look", [""]);
    expect(hold).toBe(0);
    expect(level).toBeGreaterThanOrEqual(1.99);
    expect(level).toBeLessThan(4);
  });

  test("of two pauses the longer one holds; a look changes nothing", async () => {
    await run("look", [""]);
    expect(await client.exists("key")).toBe(0);
    await run("pause", [5000]);
    expect((await run("pause", [10])).hold).toBeGreaterThan(4_000_000);
    await run("pause", [9000]);
    const before = await client.hgetall("key");
    await run("look", [""]);
    expect(await client.hgetall("key")).toEqual(before);
    expect(await client.pttl("key")).toBeGreaterThan(9900);
  });

  test("a rate that is set stays, level and all, without an end", async () => {
    await run("look", [""]);
    await run("refund", [1]);
    expect(await client.ttl("key")).toBeGreaterThan(0);
    await run("rate", [3, 2]);
    const { shape, level } = await run("charge", [2]);
    expect(shape).toEqual([3, 2]);
    expect(Math.round(level)).toBe(4);
    expect((await run("rate", ["", 5])).shape).toEqual([3, 5]);
    expect(await client.ttl("key")).toBe(-1);
  });

  test("whole rates stay whole: 3 a second and 5,000,000 a second", async () => {
    await run("reserve", [0, 1], 3, 0);
    for (let count = 0; count < 1000; count += 1) void client.eval(SCRIPT, 1, "key", "reserve", 3, 0, 0, 1);
    const { found } = await run("reserve", [0, 1], 3, 0);
    expect(Number.isInteger(Number(await client.hget("key", "level")))).toBe(true);
    expect(found[0]).toBeGreaterThan(333_000_000 - 1_000_000);
    expect(found[0]).toBeLessThanOrEqual(333_666_667);
    await client.flushall();
    const huge = await run("reserve", [50_000, 5_000_000, 1], 5_000_000, 1);
    expect(huge.found).toEqual([0, 0.2]);
  });
});
