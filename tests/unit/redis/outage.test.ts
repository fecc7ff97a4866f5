import { expect, test } from "@jest/globals";
import { observeLimiters } from "../../../src/internal/limiter-observer.js";
import { StoreUnavailableError } from "../../../src/redis/index.js";
import { Outage } from "../../../src/redis/outage.js";

test("tries come twice as far apart each time, a second at most, and begin anew once the store was back", () => {
  const outage = new Outage(100);
  const error = new StoreUnavailableError("search", "has failed", false);
  const delays = Array.from({ length: 7 }, () => {
    outage.begin(0, error, false);
    return outage.until;
  });
  expect(delays).toEqual([50, 100, 200, 400, 800, 1000, 1000]);
  outage.end(0);
  expect([outage.error, outage.until]).toEqual([undefined, -Infinity]);
  outage.begin(0, error, false);
  expect(outage.until).toBe(50);
});

test("after a call without an answer a probe goes at once; after one without an answer the next waits for its end", () => {
  const outage = new Outage(100);
  const error = new StoreUnavailableError("search", "has not answered", true);
  outage.begin(100, error, false);
  expect(outage.until).toBe(100);
  outage.begin(200, error, true);
  expect(outage.until).toBe(1200);
  outage.noteEnd(300);
  expect(outage.until).toBe(300);
});

test("observers hear once that the store is lost, and once that it is found", () => {
  const heard: unknown[] = [];
  const stop = observeLimiters({
    storeLost: (event) => heard.push(event),
    storeFound: (event) => heard.push(event),
  });
  const outage = new Outage(100);
  const error = new StoreUnavailableError("search", "has failed", false);
  outage.end(5);
  outage.begin(10, error, false);
  outage.begin(60, error, false);
  outage.end(300);
  outage.end(310);
  stop();
  expect(heard).toEqual([
    { limiter: "search", reason: error },
    { limiter: "search", afterMs: 290 },
  ]);
});
