import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { SCRIPT, SCRIPT_SHA } from "../../../src/redis/script.js";
import { ManualClock } from "../../../src/testing/index.js";
import { FakeRedis } from "../../support/redis-fake-store.js";

test("the script is known by the hash of its text", () => {
  expect(SCRIPT_SHA).toBe(createHash("sha1").update(SCRIPT).digest("hex"));
});

/** What the script answers, in tokens and seconds. */
interface Answer {
  readonly epoch: string;
  readonly hold: number;
  /** Rate, window and level of each dimension. */
  readonly buckets: number[][];
  /** Of one dimension. */
  readonly level: number;
  /** Of each reservation: its number, when it heads the line, and when its tokens of each dimension are there. */
  readonly found: number[][];
  /** By what number tokens were taken. */
  readonly taken: number | undefined;
}

let clock: ManualClock;
let redis: FakeRedis;

beforeEach(async () => {
  clock = new ManualClock();
  await clock.advance(1000);
  redis = new FakeRedis(clock);
});

type Value = string | number;

/** Runs a command on buckets of these rates and windows. */
function runOn(
  rates: readonly (readonly [rate: number, window: number])[],
  command: string,
  args: Value[],
): Answer {
  const given = ["EVALSHA", SCRIPT_SHA, "1", "key", command, rates.length, ...rates.flat(), ...args].map(
    String,
  );
  const [epoch = "", ...texts] = redis.run(given);
  const [hold = NaN, ...numbers] = texts.map(Number);
  const inGroups = (values: number[], size: number): number[][] =>
    Array.from({ length: values.length / size }, (_, index) =>
      values.slice(index * size, (index + 1) * size),
    );
  const buckets = inGroups(numbers.slice(0, 3 * rates.length), 3);
  const rest = numbers.slice(3 * rates.length);
  const secs = (micros: number): number => Math.round(micros / 1000) / 1000;
  const found = command === "take" ? [] : inGroups(rest, 2 + rates.length);
  return {
    epoch,
    hold: secs(hold),
    buckets,
    level: buckets[0]?.[2] ?? NaN,
    found: found.map(([id = NaN, ...times]) => [id, ...times.map(secs)]),
    taken: command === "take" ? rest[0] : undefined,
  };
}

/** On a bucket of 10 at 10 a second. */
const run = (command: string, ...args: Value[]): Answer => runOn([[10, 1]], command, args);

/** On 10 at 10 a second, and 100 at 100 a second. */
const runTwo = (command: string, ...args: Value[]): Answer =>
  runOn(
    [
      [10, 1],
      [100, 1],
    ],
    command,
    args,
  );

describe("reservations", () => {
  test("one after the other; none takes its tokens before it is due", async () => {
    expect(run("reserve", 30)).toMatchObject({ found: [[1, 0, 2]], level: -20 });
    expect(run("reserve", 5)).toMatchObject({ found: [[2, 2, 2.5]], level: -25 });
    await clock.advance(1999);
    run("charge", 0);
    expect(redis.reserved()).toBe(35);
    await clock.advance(1);
    expect(run("charge", 0).level).toBe(-5);
    expect(redis.reserved()).toBe(5);
    await clock.advance(500);
    expect(run("charge", 0).level).toBe(0);
    expect(redis.reserved()).toBe(0);
  });

  test("the bucket gains more than it holds for a larger one at the head only", async () => {
    run("reserve", 30);
    run("reserve", 12);
    await clock.advance(2500);
    expect(run("look", "").level).toBe(-7);
    await clock.advance(10_000);
    expect(run("look", "").level).toBe(10);
  });

  test("when one is due is worked out anew after a rate, a refund, and behind a pause", () => {
    const { epoch } = run("reserve", 30);
    run("reserve", 40);
    const look = (): number[][] => run("look", epoch, 1, 2).found;
    expect(look()).toEqual([
      [1, 0, 2],
      [2, 2, 6],
    ]);
    run("rate", 20, "");
    expect(look()[0]).toEqual([1, 0, 1]);
    run("refund", 10);
    expect(look()[0]).toEqual([1, 0, 0.5]);
    run("pause", 3000);
    // One token at its end, and 29 at 20 a second.
    expect(look()).toEqual([
      [1, 3, 4.45],
      [2, 4.45, 6.45],
    ]);
    expect(run("look", "other", 1).found).toEqual([]);
    expect(run("look", epoch, 9).found).toEqual([]);
    expect(run("reserve", 1).found).toEqual([]);
    expect(redis.reserved()).toBe(70);
  });

  test("none takes anything before the time that its process was told last", async () => {
    const { epoch } = run("reserve", 20);
    expect(run("reserve", 20).found).toEqual([[2, 1, 3]]);
    run("give", epoch, 1, 20);
    await clock.advance(1000);
    // It could have its tokens, but its process waits another second for them, in which the bucket gains.
    expect(run("look", "")).toMatchObject({ level: 0 });
    expect(redis.reserved()).toBe(20);
    expect(run("look", epoch, 2).found).toEqual([[2, 0, 0]]);
    expect(run("charge", 0)).toMatchObject({ level: 0 });
    expect(redis.reserved()).toBe(0);
  });

  test("none is due while a pause holds", async () => {
    run("reserve", 15);
    run("pause", 2000);
    await clock.advance(1500);
    expect(run("charge", 0).level).toBe(0);
    expect(redis.reserved()).toBe(15);
    await clock.advance(500 + 1399);
    // One token at the end of the pause, and 14 in 1.4 s.
    run("charge", 0);
    expect(redis.reserved()).toBe(15);
    await clock.advance(1);
    run("charge", 0);
    expect(redis.reserved()).toBe(0);
  });

  test("of several dimensions all are taken when the last is there, and none gains more than it holds until then", async () => {
    expect(runTwo("reserve", 1, 100).found).toEqual([[1, 0, 0, 0]]);
    expect(runTwo("reserve", 100, 100).found).toEqual([[2, 0, 9.1, 1]]);
    // The 100 that are there after 1 s are taken after 9.1: the next are not there before 10.1.
    expect(runTwo("reserve", 0, 100).found).toEqual([[3, 9.1, 9.1, 10.1]]);
    await clock.advance(9100);
    runTwo("charge", 0, 0);
    expect([redis.reserved(1), redis.reserved(2)]).toEqual([0, 100]);
  });

  test("a dimension that one asks nothing of does not put it off, however deep in debt", () => {
    runTwo("charge", 50, 0);
    expect(runTwo("reserve", 0, 40).found).toEqual([[2, 0, 0, 0]]);
  });
});

describe("what goes back", () => {
  test("what waits, at any place in the line, and no more than it is", () => {
    const { epoch } = run("reserve", 25);
    run("reserve", 15);
    run("reserve", 5);
    expect(run("give", epoch, 1, 10).level).toBe(-25);
    expect(run("give", epoch, 2, 99).level).toBe(-10);
    expect(run("look", epoch, 1, 2, 3).found).toEqual([
      [1, 0, 0.5],
      [3, 0.5, 1],
    ]);
    expect(run("give", epoch, 1, 15, 3, 5).level).toBe(10);
    expect(redis.reserved()).toBe(0);
    expect(run("take", 10).taken).toBeDefined();
  });

  test("what was taken, when nothing was reserved, taken or charged after it", async () => {
    const first = run("reserve", 5);
    await clock.advance(0);
    run("charge", 0);
    expect(run("give", first.epoch, 1, 5).level).toBe(5);
    const { taken = NaN, epoch } = run("take", 4);
    expect(run("look", "").level).toBe(1);
    expect(run("give", "other", taken, 4).level).toBe(1);
    expect(run("give", epoch, taken, 4).level).toBe(5);
    const again = run("take", 4).taken ?? NaN;
    run("charge", 1);
    expect(run("give", epoch, again, 4).level).toBe(0);
  });

  test("nothing of a reservation of other buckets", () => {
    run("reserve", 25);
    expect(run("give", "other", 1, 25).level).toBe(-15);
  });

  test("what is left is due no earlier than by the dimension of which least went back", async () => {
    const { epoch } = runTwo("reserve", 30, 300);
    runTwo("give", epoch, 1, 30, 0);
    // The tokens are there, but its process waits for 2 s, as it was told.
    runTwo("refund", 0, 200);
    await clock.advance(1999);
    runTwo("charge", 0, 0);
    expect(redis.reserved(2)).toBe(300);
    await clock.advance(1);
    runTwo("charge", 0, 0);
    expect(redis.reserved(2)).toBe(0);
  });

  test("a refund fills the bucket at most, or up to what the head of the line needs", () => {
    run("charge", 5);
    expect(run("refund", 3).level).toBe(8);
    expect(run("refund", 9).level).toBe(10);
    run("reserve", 30);
    expect(run("refund", 15).level).toBe(-5);
    expect(run("refund", 15).level).toBe(0);
    expect(run("charge", 3).level).toBe(-3);
  });
});

describe("take", () => {
  test("takes what is there, or nothing, and passes nobody who waits", async () => {
    expect(run("take", 11)).toMatchObject({ taken: undefined, level: 10 });
    expect(run("take", 10)).toMatchObject({ taken: 1, level: 0 });
    expect(run("take", 1)).toMatchObject({ taken: undefined, level: 0 });
    await clock.advance(300);
    run("reserve", 5);
    await clock.advance(100);
    expect(run("take", 0).taken).toBeUndefined();
    await clock.advance(1000);
    run("charge", 0);
    expect(run("take", 4).taken).toBeDefined();
  });

  test("takes nothing while a pause holds", () => {
    run("pause", 1000);
    expect(run("take", 1).taken).toBeUndefined();
  });
});

describe("pauses", () => {
  test("the longer one holds; at its end a bucket has one token, and gains from then on", async () => {
    expect(run("pause", 500)).toMatchObject({ hold: 0.5, level: 10 });
    expect(run("pause", 10).hold).toBe(0.5);
    expect(run("pause", 600).hold).toBe(0.6);
    await clock.advance(800);
    expect(run("look", "")).toMatchObject({ hold: 0, level: 3 });
  });

  test("debt goes on to be paid while one holds", async () => {
    run("charge", 15);
    run("pause", 300);
    await clock.advance(400);
    expect(run("look", "").level).toBe(-1);
  });

  test("ended by hand it leaves one token likewise; none to end changes nothing", () => {
    run("pause", 5000);
    expect(run("resume")).toMatchObject({ hold: 0, level: 1 });
    run("refund", 5);
    expect(run("resume")).toMatchObject({ hold: 0, level: 6 });
  });

  test("tells of none after it is over", async () => {
    run("pause", 100);
    await clock.advance(700);
    expect(run("charge", 0).hold).toBe(0);
    expect(run("look", "").hold).toBe(0);
  });
});

describe("the server's clock", () => {
  test("set back, it gives and costs nothing: levels, reservations and pauses stay as they are", async () => {
    run("reserve", 25);
    run("pause", 2000);
    const { epoch } = run("resume");
    run("pause", 2000);
    redis.clockOffsetMs = -3_600_000;
    expect(run("look", "")).toMatchObject({ hold: 2, level: -24 });
    run("resume");
    expect(run("look", epoch, 1).found).toEqual([[1, 0, 2.4]]);
    await clock.advance(2400);
    expect(run("charge", 0).level).toBe(0);
    expect(redis.reserved()).toBe(0);
  });

  test("set back, a reservation that no process was told of otherwise is due when it was told", async () => {
    run("reserve", 20);
    run("reserve", 5);
    redis.clockOffsetMs = -3_600_000;
    run("charge", 0);
    await clock.advance(1500);
    expect(run("charge", 0).level).toBe(0);
    expect(redis.reserved()).toBe(0);
  });

  test("set forward, it fills the bucket and no more", () => {
    run("charge", 15);
    redis.clockOffsetMs = 3_600_000;
    expect(run("look", "").level).toBe(10);
  });
});

describe("rates", () => {
  test("one that is set goes before those of the calls, in the parts that are set", () => {
    run("charge", 5);
    expect(run("rate", 3, "").buckets).toEqual([[3, 1, 3]]);
    expect(run("rate", "", 5).buckets).toEqual([[3, 5, 3]]);
    expect(run("charge", 1).buckets).toEqual([[3, 5, 2]]);
    expect(run("rate", 4, "").buckets).toEqual([[4, 5, 2]]);
  });

  test("a capacity is one token at least; one that grows does not fill", () => {
    expect(run("rate", 10, 0).buckets).toEqual([[10, 0, 1]]);
    expect(run("rate", 100, 1).buckets).toEqual([[100, 1, 1]]);
  });

  test("of one dimension, and not of the other", () => {
    // Those of the first one are not told, for they are those of the call.
    expect(runTwo("rate", "", "", 50, "").buckets).toEqual([
      [0, 0, 10],
      [50, 1, 50],
    ]);
    expect([...redis.fields].filter((field) => field.startsWith("rate"))).toEqual(["rate2"]);
  });

  test("whole ones stay whole: 3 a second and 5,000,000 a second", () => {
    let last: number[] | undefined = [];
    for (let count = 0; count <= 100; count += 1) last = runOn([[3, 0]], "reserve", [1]).found[0];
    expect(last).toEqual([101, 33, 33.333]);
    redis.flush();
    expect(runOn([[5_000_000, 1]], "reserve", [5_000_000]).found).toEqual([[1, 0, 0]]);
    expect(runOn([[5_000_000, 1]], "reserve", [5000]).found).toEqual([[2, 0, 0.001]]);
  });
});

describe("the key", () => {
  test("a look at nothing makes none and changes none", () => {
    run("look", "");
    expect([...redis.fields]).toEqual([]);
    const { epoch } = run("charge", 4);
    redis.expiresInMs = undefined;
    run("look", "");
    run("look", epoch, 7);
    expect(redis.expiresInMs).toBeUndefined();
    run("reserve", 16);
    redis.expiresInMs = undefined;
    run("look", epoch, 2);
    expect(redis.expiresInMs).toBe(3000);
  });

  test("lasts until a full bucket may be forgotten, and a second; behind what is reserved and a pause", async () => {
    run("charge", 4);
    expect(redis.expiresInMs).toBe(1400);
    run("reserve", 26);
    expect(redis.expiresInMs).toBe(4000);
    await clock.advance(2000);
    run("charge", 0);
    expect(redis.expiresInMs).toBe(2000);
    run("pause", 5000);
    // At its end there is one token.
    expect(redis.expiresInMs).toBe(6900);
  });

  test("stays once a rate was set", () => {
    run("rate", 3, "");
    expect(redis.expiresInMs).toBe(Infinity);
    run("charge", 1);
    expect(redis.expiresInMs).toBe(Infinity);
  });
});
