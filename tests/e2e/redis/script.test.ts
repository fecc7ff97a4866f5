import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Redis } from "ioredis";
import { SCRIPT } from "../../../src/redis/script.js";
import { ManualClock } from "../../../src/testing/index.js";
import { FakeRedis } from "../../support/redis-fake-store.js";
import { describeWithRedis, RedisServer } from "../../support/redis-server.js";

/** Two buckets that gain next to nothing while a test runs: 10 at 0.001 a second, 100 at 0.002. */
const BUCKETS = ["2", "0.001", "10000", "0.002", "50000"];
const RUNS = 40;
const MINUTE_MICROS = 60_000_000;

const tokens = (most: number): fc.Arbitrary<string> => fc.integer({ min: 0, max: most }).map(String);
const costs = fc.tuple(tokens(30), tokens(150));
const id = fc.integer({ min: 1, max: 12 }).map(String);
const rate = fc.constantFrom("", "0.001", "0.004");
const window = fc.constantFrom("", "10000", "0");
/** A command; `epoch` stands for that of the buckets. */
const command: fc.Arbitrary<string[]> = fc.oneof(
  { arbitrary: costs.map((amounts) => ["reserve", ...amounts]), weight: 4 },
  fc.array(id, { maxLength: 3 }).map((ids) => ["look", "epoch", ...ids]),
  costs.map((amounts) => ["take", ...amounts]),
  fc.tuple(id, costs).map(([number, amounts]) => ["give", "epoch", number, ...amounts]),
  costs.map((amounts) => ["charge", ...amounts]),
  costs.map((amounts) => ["refund", ...amounts]),
  fc.constantFrom<string[]>(["pause", "50000000"], ["resume"]),
  fc.tuple(rate, window, rate, window).map((values) => ["rate", ...values]),
);

describeWithRedis("the script, on a real server", () => {
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

  /** Whether they are the same but for what a busy machine takes between two commands. */
  const isNear = (a: string[], b: string[]): boolean =>
    a.length === b.length &&
    a.slice(1).every((value, index) => {
      const away = Math.abs(Number(value) - Number(b[index + 1]));
      // Either tokens and numbers of reservations, or times in microseconds.
      return away < (Math.abs(Number(value)) < 1e6 ? 0.1 : MINUTE_MICROS);
    });

  test("answers as in the interpreter that the other tests run it in, and gives the key the same life", async () => {
    for (const [index, commands] of fc
      .sample(fc.array(command, { minLength: 20, maxLength: 20 }), { seed: 1, numRuns: RUNS })
      .entries()) {
      const key = `key${String(index)}`;
      const fake = new FakeRedis(new ManualClock());
      const epochs = { fake: "", real: "" };
      for (const [name = "", ...args] of commands) {
        const withEpoch = (epoch: string): string[] => [
          name,
          ...BUCKETS,
          ...args.map((arg) => (arg === "epoch" ? epoch : arg)),
        ];
        const expected = fake.run(["EVAL", SCRIPT, "1", key, ...withEpoch(epochs.fake)]);
        const answer = (await client.eval(SCRIPT, 1, key, ...withEpoch(epochs.real))) as string[];
        expect({ index, name, args, answer, expected, isNear: isNear(answer, expected) }).toMatchObject({
          isNear: true,
        });
        epochs.fake = expected[0] ?? "";
        epochs.real = answer[0] ?? "";
      }
      const life = await client.pttl(key);
      const { expiresInMs = -2000 } = fake;
      expect(Math.abs(life - (expiresInMs === Infinity ? -1 : expiresInMs))).toBeLessThan(60_000);
    }
  }, 60_000);

  test("time is the server's, in millionths of a second", async () => {
    const micros = async (): Promise<number> => {
      const [secs, rest] = (await client.call("TIME")) as string[];
      return Number(secs) * 1e6 + Number(rest);
    };
    const before = await micros();
    const run = (): Promise<unknown> => client.eval(SCRIPT, 1, "key", "charge", 1, 1_000_000, 1, 500_000);
    await run();
    const level = Number(((await run()) as string[])[4]);
    const after = await micros();
    expect(level).toBeGreaterThan(0);
    expect(level).toBeLessThanOrEqual(after - before);
  });
});
