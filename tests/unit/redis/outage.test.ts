import { expect, test } from "@jest/globals";
import { StoreUnavailableError } from "../../../src/redis/index.js";
import { Outage } from "../../../src/redis/outage.js";

test("tries come twice as far apart each time, a second at most, and begin anew once the store was back", () => {
  const outage = new Outage(100);
  const error = new StoreUnavailableError("search", "has failed", false);
  const delays = Array.from({ length: 7 }, () => {
    outage.begin(0, error);
    return outage.until;
  });
  expect(delays).toEqual([50, 100, 200, 400, 800, 1000, 1000]);
  outage.end();
  expect([outage.error, outage.until]).toEqual([undefined, -Infinity]);
  outage.begin(0, error);
  expect(outage.until).toBe(50);
});

test("a call without an answer is waited for, until it ends", () => {
  const outage = new Outage(100);
  outage.begin(0, new StoreUnavailableError("search", "has not answered", true));
  expect(outage.until).toBe(1000);
  outage.noteEnd(300);
  expect(outage.until).toBe(300);
});
