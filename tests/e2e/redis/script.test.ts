import { afterAll, beforeAll, beforeEach, expect, jest, test } from "@jest/globals";
import { Redis } from "ioredis";
import { SCRIPT } from "../../../src/redis/script.js";
import { describeWithRedis, RedisServer } from "../../support/redis-server.js";

const HOUR_MICROS = 3_600_000_000;

// The time is the server's: a machine that stands still for 50 ms between two commands shows another level.
jest.retryTimes(3, { logErrorsBeforeRetry: true });

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
    const answer = (await client.eval(SCRIPT, 1, "key", command, 1, rate, window, ...args)) as string[];
    const [epoch = "", ...numbers] = answer;
    const [hold = NaN, rateNow, windowNow, level = NaN, ...found] = numbers.map(Number);
    const [id = NaN, start = NaN, ready = NaN] = found;
    return { epoch, shape: [rateNow, windowNow], level, hold, id, start, ready, found };
  }

  interface Answer {
    readonly epoch: string;
    readonly shape: (number | undefined)[];
    readonly level: number;
    readonly hold: number;
    /** What was found, of one reservation. */
    readonly id: number;
    readonly start: number;
    readonly ready: number;
    readonly found: number[];
  }

  /** Moves what the script has noted by so much, as if the server's clock had gone the other way. */
  async function shift(micros: number): Promise<void> {
    for (const field of ["since", "hold"]) {
      const at = Number(await client.hget("key", field));
      if (at > 0) await client.hset("key", field, String(at + micros));
    }
    const line = (await client.hget("key", "line")) ?? "";
    const moved = line.replaceAll(/(\S+) (\S+)( [^;]*;)/g, (_, id: string, told: string, rest: string) =>
      [id, " ", String(Number(told) + micros), rest].join(""),
    );
    await client.hset("key", "line", moved);
  }

  /** To tenths of a second. */
  const tenths = (micros: number): number => Math.round(micros / 100_000) / 10;

  test("reserves behind those that have reserved before", async () => {
    const { start, ready, level } = await run("reserve", [30]);
    expect([start, tenths(ready), Math.round(level)]).toEqual([0, 2, -20]);
    const next = await run("reserve", [5]);
    expect([tenths(next.start), tenths(next.ready)]).toEqual([2, 2.5]);
  });

  test("what is due when is worked out anew, also after a new rate, a refund and behind a pause", async () => {
    const { epoch, id } = await run("reserve", [30]);
    await run("reserve", [40]);
    const ready = async (): Promise<number> => tenths((await run("look", [epoch, id])).ready);
    expect(await ready()).toBe(2);
    await run("rate", [20, ""]);
    expect(await ready()).toBe(1);
    await run("refund", [10]);
    expect(await ready()).toBe(0.5);
    await run("pause", [3000]);
    // One token at its end, and 29 at 20 a second.
    expect(await ready()).toBeGreaterThan(4.3);
    expect(await ready()).toBeLessThanOrEqual(4.5);
    expect((await run("look", ["other", id])).found).toEqual([]);
    expect((await run("reserve", [1])).found).toEqual([]);
  });

  test("a reservation takes its tokens when it is due, and not before it was told", async () => {
    const { epoch, id } = await run("reserve", [20]);
    const second = await run("reserve", [20]);
    expect(tenths(second.ready)).toBe(3);
    await run("give", [epoch, id, 20]);
    // Nobody has told the second one that it could have its tokens earlier.
    await shift(-1_500_000);
    expect(Math.round((await run("look", [""])).level)).toBe(0);
    expect(await client.hget("key", "line")).not.toBe("");
    await run("look", [epoch, second.id]);
    expect(Math.round((await run("charge", [0])).level)).toBe(0);
    expect(await client.hget("key", "line")).toBe("");
  });

  test("what waits goes back at any place; what was taken only when nobody has come after it, and once", async () => {
    const first = await run("reserve", [5]);
    const second = await run("reserve", [4]);
    expect(Math.round((await run("give", [first.epoch, first.id, 5])).level)).toBe(1);
    expect(Math.round((await run("give", ["other", second.id, 4])).level)).toBe(1);
    expect(Math.round((await run("give", [first.epoch, second.id, 4])).level)).toBe(5);
    const third = await run("reserve", [25]);
    await run("reserve", [5]);
    expect(Math.round((await run("give", [first.epoch, third.id, 10])).level)).toBe(-15);
    expect(Math.round((await run("give", [first.epoch, third.id, 99])).level)).toBe(0);
  });

  test("takes what is there, or nothing, and passes nobody who waits", async () => {
    expect((await run("take", [11])).found).toEqual([]);
    expect((await run("take", [10])).found).toHaveLength(1);
    expect((await run("take", [5])).found).toEqual([]);
    await run("refund", [100]);
    await run("pause", [1000]);
    expect((await run("take", [1])).found).toEqual([]);
    await run("resume");
    expect((await run("take", [2])).found).toEqual([]);
    expect((await run("take", [1])).found).toHaveLength(1);
    await run("refund", [100]);
    await run("reserve", [20]);
    expect((await run("take", [1])).found).toEqual([]);
  });

  test("a clock that is set back costs nobody an hour and gives nobody tokens", async () => {
    await run("reserve", [25]);
    await run("pause", [2000]);
    await shift(HOUR_MICROS);
    const { level, hold, epoch } = await run("look", [""]);
    expect(level).toBeLessThan(-14);
    expect(level).toBeGreaterThanOrEqual(-15);
    expect(hold).toBeGreaterThan(1_500_000);
    expect(hold).toBeLessThanOrEqual(2_000_000);
    await run("resume");
    expect((await run("look", [epoch, 1])).ready).toBeLessThan(5_000_000);
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
    expect(level).toBeLessThan(8);
  });

  test("of two pauses the longer one holds; a look at nothing changes nothing", async () => {
    await run("look", [""]);
    expect(await client.exists("key")).toBe(0);
    await run("pause", [5000]);
    expect((await run("pause", [10])).hold).toBeGreaterThan(4_000_000);
    await run("pause", [9000]);
    const before = await client.hgetall("key");
    await run("look", [""]);
    expect(await client.hgetall("key")).toEqual(before);
    // The pause, and 9 tokens after it.
    expect(await client.pttl("key")).toBeGreaterThan(9800);
    expect(await client.pttl("key")).toBeLessThanOrEqual(10_901);
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
    await run("reserve", [1], 3, 0);
    for (let count = 0; count < 1000; count += 1) void client.eval(SCRIPT, 1, "key", "reserve", 1, 3, 0, 1);
    const { ready } = await run("reserve", [1], 3, 0);
    expect(ready).toBeGreaterThan(333_000_000 - 3_000_000);
    expect(ready).toBeLessThanOrEqual(333_666_667);
    await client.flushall();
    const huge = await run("reserve", [5_000_000], 5_000_000, 1);
    expect([huge.start, huge.ready]).toEqual([0, 0]);
    const next = await run("reserve", [1], 5_000_000, 1);
    expect(next.ready).toBeLessThanOrEqual(0.25);
    expect(Math.round((await run("charge", [0], 5_000_000, 1)).level)).toBeLessThan(5_000_000);
  });

  test("several dimensions are taken together, and none gains above its capacity while another is waited for", async () => {
    const two = async (command: string, ...args: (string | number)[]): Promise<number[]> => {
      const dimensions = [2, 10, 0, 100, 1];
      const answer = (await client.eval(SCRIPT, 1, "key", command, ...dimensions, ...args)) as string[];
      return answer.slice(1).map(Number);
    };
    const [, , , requests, , , tokens] = await two("reserve", 1, 100);
    expect([requests, tokens]).toEqual([0, 0]);
    const [start, ready1, ready2] = (await two("reserve", 100, 100)).slice(8);
    expect([tenths(start ?? NaN), tenths(ready1 ?? NaN), tenths(ready2 ?? NaN)]).toEqual([0, 10, 1]);
    // The 100 that are due after 1 s are taken after 10: the next ones are not there before 11.
    const next = (await two("reserve", 0, 100)).slice(8);
    expect(next.map(tenths)).toEqual([10, 10, 11]);
  });
});
