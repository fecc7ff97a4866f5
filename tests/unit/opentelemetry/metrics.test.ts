import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { DataPointType, type Histogram } from "@opentelemetry/sdk-metrics";
import { limitFetch } from "../../../src/fetch/index.js";
import { VERSION } from "../../../src/internal/version.js";
import { registry } from "../../../src/internal/registry.js";
import { instrument, type InstrumentOptions } from "../../../src/opentelemetry/index.js";
import { DeadlineExceededError } from "../../../src/pipeline/index.js";
import { KeyedRateLimiter, RateBudget, RateLimiter } from "../../../src/rate-limit/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { Meters } from "./support/meters.js";

const REQUESTS = "tidegate.limiter.requests";
const QUEUED = "tidegate.limiter.queued_requests";
const TIME_IN_QUEUE = "tidegate.limiter.request.time_in_queue";
const TOKENS = "tidegate.limiter.tokens";

let clock: ManualClock;
let meters: Meters;
let stop: () => void;

function record(options: InstrumentOptions = {}): void {
  stop = instrument({ meterProvider: meters.provider, ...options });
}

function limiterOf(options: { rate?: number; maxQueue?: number; name?: string } = {}): RateLimiter {
  const { rate = 1, maxQueue = Infinity, name = "api" } = options;
  return new RateLimiter({ maxRowsPerSecond: rate, burstWindowSecs: 0, maxQueue, name, clock });
}

const ignored = (call: Promise<unknown>): void => void call.catch(() => undefined);

beforeEach(() => {
  clock = new ManualClock();
  meters = new Meters();
});
afterEach(async () => {
  stop();
  await meters.shutdown();
  expect(registry().limiterObserver).toBeUndefined();
});

describe("requests", () => {
  test("are counted by how they ended, with the type of the error", async () => {
    record();
    const limiter = limiterOf({ maxQueue: 4 });
    await limiter.acquire(); // acquired at once
    expect(limiter.tryAcquire()).toBe(false); // not a request that has ended
    const waiting = limiter.acquire(); // acquired after a wait
    const leave = new AbortController();
    ignored(limiter.acquire(1, { signal: leave.signal }));
    ignored(limiter.acquire(1, { signal: leave.signal }));
    ignored(limiter.acquire(1, { maxWaitMs: 4_500 }));
    ignored(limiter.acquire()); // the queue is full
    ignored(limiter.acquire(1, { maxWaitMs: 10 })); // the same: it is asked first
    leave.abort();
    ignored(limiter.acquire(1, { maxWaitMs: 10 })); // refused: too long
    ignored(limiter.acquire(1, { signal: AbortSignal.abort("no error") })); // aborted before
    await clock.advance(1_000);
    await waiting;
    limiter.charge(10);
    await clock.advance(3_500); // one has waited long enough
    ignored(limiter.acquire());
    limiter.close();
    ignored(limiter.acquire());
    await limiter.acquire(-1).catch(() => undefined); // a mistake, not a request
    expect(await meters.values(REQUESTS)).toEqual({
      "limiter.name=api,result=acquired": 2,
      "limiter.name=api,result=aborted,error.type=AbortError": 2,
      "limiter.name=api,result=aborted,error.type=_OTHER": 1,
      "limiter.name=api,result=timeout,error.type=WAIT_TOO_LONG": 2,
      "limiter.name=api,result=rejected,error.type=QUEUE_FULL": 2,
      "limiter.name=api,result=rejected,error.type=LIMITER_CLOSED": 2,
    });
    const data = (await meters.collect()).get(REQUESTS);
    expect(data?.descriptor).toMatchObject({ unit: "{request}", description: expect.stringMatching(/./) });
    expect(data).toMatchObject({ dataPointType: DataPointType.SUM, isMonotonic: true });
  });

  test.each([
    ["a time limit around it", new DeadlineExceededError(5), "timeout", "DEADLINE_EXCEEDED"],
    ["AbortSignal.timeout", new DOMException("late", "TimeoutError"), "timeout", "TimeoutError"],
    ["an error of the caller", new TypeError("x"), "aborted", "TypeError"],
    [
      "an error of the package",
      new (class extends DeadlineExceededError {})(5),
      "timeout",
      "DEADLINE_EXCEEDED",
    ],
  ])("that ended by %s", async (_name, reason, result, type) => {
    record();
    const limiter = limiterOf();
    await limiter.acquire();
    const leave = new AbortController();
    ignored(limiter.acquire(1, { signal: leave.signal }));
    leave.abort(reason);
    ignored(limiter.acquire(1, { signal: leave.signal }));
    const values = await meters.values(REQUESTS);
    expect(values[`limiter.name=api,result=${result},error.type=${type}`]).toBe(2);
  });

  test("a tryAcquire that is granted counts; keys of a keyed limiter are nowhere in what is exported", async () => {
    record();
    const keyed = new KeyedRateLimiter<string>({
      maxRowsPerSecond: 1,
      burstWindowSecs: 0,
      maxKeys: 2,
      name: "tenants",
      clock,
    });
    expect(keyed.tryAcquire("secret-a")).toBe(true);
    ignored(keyed.acquire("secret-a"));
    ignored(keyed.acquire("secret-b"));
    ignored(keyed.acquire("secret-c"));
    await clock.advance(1_000);
    expect(await meters.values(REQUESTS)).toEqual({
      "limiter.name=tenants,result=acquired": 3,
      "limiter.name=tenants,result=rejected,error.type=KEY_LIMIT": 1,
    });
    expect(JSON.stringify([...(await meters.collect())])).not.toContain("secret");
  });
});

describe("queued requests", () => {
  test("go up with each that joins, and down with each that is granted or leaves, however it leaves", async () => {
    record();
    const limiter = limiterOf();
    const other = limiterOf({ name: "other" });
    await limiter.acquire();
    await other.acquire();
    const leave = new AbortController();
    ignored(other.acquire());
    ignored(limiter.acquire());
    ignored(limiter.acquire(1, { signal: leave.signal }));
    ignored(limiter.acquire(1, { maxWaitMs: 3_000 }));
    ignored(limiter.acquire());
    const queued = async (): Promise<unknown> => (await meters.values(QUEUED))["limiter.name=api"];
    expect(await meters.values(QUEUED)).toEqual({ "limiter.name=api": 4, "limiter.name=other": 1 });
    leave.abort();
    expect(await queued()).toBe(3);
    await clock.advance(1_000); // one is granted
    expect(await queued()).toBe(2);
    limiter.charge(10);
    await clock.advance(2_000); // a deadline passes
    expect(await queued()).toBe(1);
    limiter.close();
    expect(await meters.values(QUEUED)).toEqual({ "limiter.name=api": 0, "limiter.name=other": 0 });
    const data = (await meters.collect()).get(QUEUED);
    expect(data?.descriptor).toMatchObject({ unit: "{request}", description: expect.stringMatching(/./) });
    expect(data).toMatchObject({ dataPointType: DataPointType.SUM, isMonotonic: false });
  });

  test("go down also when the reason cannot be looked at", async () => {
    record();
    const limiter = limiterOf();
    await limiter.acquire();
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const nameless = Object.defineProperty(new Error(), "name", {
      get: () => {
        throw new Error("no name");
      },
    });
    for (const reason of [proxy, nameless]) {
      const leave = new AbortController();
      ignored(limiter.acquire(1, { signal: leave.signal }));
      leave.abort(reason);
    }
    expect(await meters.values(QUEUED)).toEqual({ "limiter.name=api": 0 });
    expect(await meters.values(REQUESTS)).toEqual({
      "limiter.name=api,result=acquired": 1,
      "limiter.name=api,result=aborted,error.type=_OTHER": 2,
    });
  });

  test("do not count those who joined before, when they come and when they go", async () => {
    const limiter = limiterOf();
    await limiter.acquire();
    const leave = new AbortController();
    ignored(limiter.acquire());
    ignored(limiter.acquire(1, { signal: leave.signal }));
    ignored(limiter.acquire(1, { signal: new AbortController().signal }));
    record();
    ignored(limiter.acquire());
    expect(await meters.values(QUEUED)).toEqual({ "limiter.name=api": 1 });
    leave.abort();
    await clock.advance(2_000); // those from before are gone
    expect(await meters.values(QUEUED)).toEqual({ "limiter.name=api": 1 });
    expect((await meters.collect()).get(TIME_IN_QUEUE)).toBeUndefined();
    await clock.advance(1_000);
    expect(await meters.values(QUEUED)).toEqual({ "limiter.name=api": 0 });
    expect(await meters.values(REQUESTS)).toMatchObject({ "limiter.name=api,result=acquired": 3 });
  });

  test("are empty when the recording has ended, and a second recording counts only its own", async () => {
    record();
    const limiter = limiterOf();
    await limiter.acquire();
    ignored(limiter.acquire());
    const again = new Meters();
    const stopAgain = instrument({ meterProvider: again.provider });
    ignored(limiter.acquire());
    expect(await meters.values(QUEUED)).toEqual({ "limiter.name=api": 2 });
    expect(await again.values(QUEUED)).toEqual({ "limiter.name=api": 1 });
    stop();
    stop();
    expect(await meters.values(QUEUED)).toEqual({ "limiter.name=api": 0 });
    await clock.advance(2_000);
    expect(await meters.values(QUEUED)).toEqual({ "limiter.name=api": 0 });
    expect(await meters.values(REQUESTS)).toEqual({ "limiter.name=api,result=acquired": 1 });
    expect(await again.values(QUEUED)).toEqual({ "limiter.name=api": 0 });
    expect(await again.values(REQUESTS)).toEqual({ "limiter.name=api,result=acquired": 2 });
    stopAgain();
    await again.shutdown();
  });
});

test("the time in the queue is in seconds, with bounds from 5 ms to 5 minutes, of those who came into the line", async () => {
  record();
  const limiter = limiterOf();
  await limiter.acquire(); // did not wait: no point
  const leave = new AbortController();
  ignored(limiter.acquire());
  ignored(limiter.acquire(1, { signal: leave.signal }));
  ignored(limiter.acquire(1, { maxWaitMs: 1 }));
  await clock.advance(400);
  leave.abort();
  await clock.advance(600);
  const data = (await meters.collect()).get(TIME_IN_QUEUE);
  expect(data?.descriptor).toMatchObject({ unit: "s", description: expect.stringMatching(/./) });
  expect(data?.dataPointType).toBe(DataPointType.HISTOGRAM);
  const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
  const points = data?.dataPoints.map(({ attributes, value }) => {
    const { count, sum, buckets } = value as Histogram;
    expect(buckets.boundaries).toEqual(bounds);
    return { attributes, count, sum };
  });
  expect(points).toEqual([
    { attributes: { "limiter.name": "api", result: "aborted" }, count: 1, sum: 0.4 },
    { attributes: { "limiter.name": "api", result: "acquired" }, count: 1, sum: 1 },
  ]);
});

test("pauses and retries are counted", async () => {
  record();
  const limiter = new RateLimiter({ maxRowsPerSecond: 100, name: "api", clock });
  limiter.pause(10);
  limiter.pause(20);
  const statuses = [429, 503, 200];
  const fetch = limitFetch(limiter, {
    fetch: async () => new Response("", { status: statuses.shift() ?? 200, headers: { "retry-after": "1" } }),
  });
  const answer = fetch("https://api.test/items");
  await clock.advance(10_000);
  expect((await answer).status).toBe(200);
  expect(await meters.values("tidegate.limiter.pauses")).toEqual({ "limiter.name=api": 4 });
  expect(await meters.values("tidegate.limiter.retries")).toEqual({
    "limiter.name=api,http.response.status_code=429": 1,
    "limiter.name=api,http.response.status_code=503": 1,
  });
  const all = await meters.collect();
  expect(all.get("tidegate.limiter.pauses")?.descriptor).toMatchObject({
    unit: "{pause}",
    description: expect.stringMatching(/./),
  });
  expect(all.get("tidegate.limiter.retries")?.descriptor).toMatchObject({
    unit: "{retry}",
    description: expect.stringMatching(/./),
  });
});

describe("tokens", () => {
  test("are measured at each collection, of limiters and of the dimensions of budgets, in debt too", async () => {
    const limiter = new RateLimiter({ maxRowsPerSecond: 10, name: "api", clock });
    const budget = new RateBudget(
      { requests: { maxRowsPerSecond: 2 }, tokens: { maxRowsPerSecond: 100 } },
      { name: "model", clock },
    );
    const made: { budget?: typeof budget } = {};
    record({ limiters: () => [limiter, made.budget] });
    await limiter.acquire(4);
    expect(await meters.values(TOKENS)).toEqual({ "limiter.name=api": 6 });
    made.budget = budget;
    await budget.acquire({ requests: 1, tokens: 30 });
    limiter.charge(8);
    expect(await meters.values(TOKENS)).toEqual({
      "limiter.name=api": -2,
      "limiter.name=model,limiter.dimension=requests": 1,
      "limiter.name=model,limiter.dimension=tokens": 70,
    });
    const data = (await meters.collect()).get(TOKENS);
    expect(data?.descriptor).toMatchObject({ unit: "{token}", description: expect.stringMatching(/./) });
    expect(data?.dataPointType).toBe(DataPointType.GAUGE);
  });

  test("are not asked for any more when the recording has ended", async () => {
    let asked = 0;
    record({
      limiters: () => {
        asked += 1;
        return [];
      },
    });
    await meters.collect();
    expect(asked).toBe(1);
    stop();
    await meters.collect();
    expect(asked).toBe(1);
  });

  test("that cannot be measured leave the other instruments alone", async () => {
    record({
      limiters: () => {
        throw new Error("not now");
      },
    });
    await limiterOf().acquire();
    expect(await meters.values(REQUESTS)).toEqual({ "limiter.name=api,result=acquired": 1 });
    expect(await meters.values(TOKENS)).toEqual({});
  });

  test("have no instrument where nobody asks for them", async () => {
    record();
    await limiterOf().acquire();
    expect([...(await meters.collect()).keys()]).toEqual([REQUESTS]);
  });
});

test("the instruments belong to a meter with the name and version of the package", async () => {
  const asked: unknown[] = [];
  record({
    meterProvider: {
      getMeter: (...args) => {
        asked.push(args);
        return meters.provider.getMeter(...args);
      },
    },
  });
  expect(asked).toEqual([["tidegate", VERSION]]);
  await limiterOf().acquire();
  expect(await meters.values(REQUESTS)).toEqual({ "limiter.name=api,result=acquired": 1 });
});
