import { channel, type ChannelListener, subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { publishEvents } from "../../../src/diagnostics-channel/index.js";
import { limitFetch } from "../../../src/fetch/index.js";
import { registry } from "../../../src/internal/registry.js";
import { RateLimiter } from "../../../src/rate-limit/index.js";
import { ManualClock } from "../../../src/testing/index.js";

const EVENTS = ["waited", "granted", "left", "refused", "paused", "storeLost", "storeFound", "retried"];

let stop: () => void;
let clock: ManualClock;
let limiter: RateLimiter;
let subscriptions: [string, ChannelListener][];

function listen(event: string, listener: ChannelListener): void {
  subscribe(`tidegate:limiter:${event}`, listener);
  subscriptions.push([`tidegate:limiter:${event}`, listener]);
}

beforeEach(() => {
  subscriptions = [];
  clock = new ManualClock();
  limiter = new RateLimiter({ maxRowsPerSecond: 1, burstWindowSecs: 0, name: "api", clock });
});
afterEach(() => {
  stop();
  for (const subscription of subscriptions) unsubscribe(...subscription);
  expect(registry().limiterObserver).toBeUndefined();
});

test("each event goes to the channel of its name, as an observer has it", async () => {
  const seen: unknown[] = [];
  for (const event of EVENTS) listen(event, (message, name) => seen.push([name, message]));
  stop = publishEvents();
  const leave = new AbortController();
  await limiter.acquire();
  const waits = limiter.acquire();
  limiter.acquire(1, { signal: leave.signal }).catch(() => undefined);
  limiter.acquire(1, { maxWaitMs: 1 }).catch(() => undefined);
  leave.abort("enough");
  await clock.advance(1_000);
  await waits;
  limiter.pause(500);
  const call: unknown = expect.any(Object);
  const of = (event: string, fields: object): unknown => [
    `tidegate:limiter:${event}`,
    { limiter: "api", ...fields },
  ];
  expect(seen.splice(0)).toEqual([
    of("granted", { cost: 1, waitedMs: 0 }),
    of("waited", { cost: 1, call }),
    of("waited", { cost: 1, call }),
    of("refused", { cost: 1, reason: expect.objectContaining({ code: "WAIT_TOO_LONG" }) }),
    of("left", { cost: 1, waitedMs: 0, reason: "enough", call }),
    of("granted", { cost: 1, waitedMs: 1_000, call }),
    of("paused", { ms: 500 }),
  ]);
  const statuses = [429, 200];
  const fetch = limitFetch(limiter, {
    fetch: async () => new Response("", { status: statuses.shift() ?? 200 }),
  });
  void fetch("https://api.test/items");
  await clock.advance(5_000);
  expect(seen).toContainEqual(of("retried", { status: 429, attempt: 1 }));
});

test("a channel without subscribers gets nothing, and one that is subscribed to later gets what comes then", async () => {
  const published = EVENTS.map((event) => jest.spyOn(channel(`tidegate:limiter:${event}`), "publish"));
  stop = publishEvents();
  await limiter.acquire();
  limiter.pause(5);
  limiter.close();
  await limiter.acquire().catch(() => undefined);
  expect(published.map((spy) => spy.mock.calls.length)).toEqual(EVENTS.map(() => 0));
  jest.restoreAllMocks();
  const seen: unknown[] = [];
  listen("refused", (message) => seen.push(message));
  await limiter.acquire(2).catch(() => undefined);
  expect(seen).toEqual([
    { limiter: "api", cost: 2, reason: expect.objectContaining({ code: "LIMITER_CLOSED" }) },
  ]);
});

test("nothing is published before the call, and nothing after its end", async () => {
  const seen: unknown[] = [];
  listen("paused", (message) => seen.push(message));
  limiter.pause(1);
  stop = publishEvents();
  limiter.pause(2);
  stop();
  stop();
  limiter.pause(3);
  expect(seen).toEqual([{ limiter: "api", ms: 2 }]);
});
