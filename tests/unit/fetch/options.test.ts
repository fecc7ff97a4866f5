import { describe, expect, test } from "@jest/globals";
import { ContextKey } from "../../../src/context/index.js";
import { InvalidArgumentError } from "../../../src/errors.js";
import { type FetchLimiter, limitFetch } from "../../../src/fetch/index.js";
import { RateLimiter } from "../../../src/rate-limit/index.js";
import { ok, reasonOf, URL_OF_IT } from "./support/set-up.js";

const limiter = new RateLimiter({ maxRowsPerSecond: 1 });

test.each<[string, unknown]>([
  ["options", null],
  ["options", 5],
  ["fetch", "fetch"],
  ["fetch", null],
  ["cost", "1"],
  ["settle", 5],
  ["retry", null],
  ["retry", "2"],
  ["retry", true],
  ["retry.retries", { retries: -1 }],
  ["retry.retries", { retries: Infinity }],
  ["retry.retries", NaN],
  ["retry.retries", 1.5],
  ["retry.statuses", { statuses: 429 }],
  ["retry.statuses", { statuses: [200] }],
  ["retry.statuses", { statuses: ["429"] }],
  ["retry.statuses", { statuses: [600] }],
  ["retry.methods", { methods: "POST" }],
  ["retry.methods", { methods: [""] }],
  ["retry.methods", { methods: [5] }],
  ["retry.backoffMs", { backoffMs: -1 }],
  ["retry.backoffMs", { backoffMs: Infinity }],
  ["feedback", true],
  ["feedback", null],
  ["feedback.maxPauseMs", { maxPauseMs: NaN }],
  ["feedback.maxPauseMs", { maxPauseMs: Infinity }],
  ["feedback.maxPauseMs", { maxPauseMs: -1 }],
  ["feedback.isShared", { isShared: true }],
])("refuses %s: %p, by name", (option, value) => {
  const [first = ""] = option.split(".");
  const options = option === "options" ? value : { [first]: value };
  const make = (): unknown => limitFetch(limiter, options as never);
  expect(make).toThrow(InvalidArgumentError);
  expect(make).toThrow(`"${option}" must be`);
});

test("takes undefined for every option", async () => {
  const limited = limitFetch(limiter, {
    ...{ cost: undefined, settle: undefined, retry: undefined, feedback: undefined },
    fetch: () => Promise.resolve(ok()),
  });
  expect((await limited(URL_OF_IT)).status).toBe(200);
});

describe("what it draws from", () => {
  const plain = { acquire: () => Promise.resolve() };

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["an object", {}],
    ["a limiter that cannot pause", plain],
  ])("must not be %s", (_, given) => {
    const make = (): unknown => limitFetch(given as RateLimiter);
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow('"limiter" must be');
  });

  test.each<[string, unknown]>([
    ["no limiter", {}],
    ["a limiter that cannot pause", plain],
  ])("must not be %s under its key, which shows at the call", async (_, given) => {
    const key = new ContextKey<FetchLimiter>("limiter", { defaultValue: () => given as RateLimiter });
    const limited = limitFetch(key, { fetch: () => Promise.resolve(ok()) });
    expect(await reasonOf(limited(URL_OF_IT))).toMatchObject({ code: "ARGUMENT_INVALID", option: "limiter" });
  });
});
