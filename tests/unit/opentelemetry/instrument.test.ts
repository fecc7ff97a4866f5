import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { diag, metrics } from "@opentelemetry/api";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { registry } from "../../../src/internal/registry.js";
import { instrument, type InstrumentOptions } from "../../../src/opentelemetry/index.js";
import * as first from "../../../src/pipeline/index.js";
import { RateLimiter } from "../../../src/rate-limit/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { errorOf } from "../pipeline/helpers.js";
import { Meters } from "./support/meters.js";
import { Tracers } from "./support/tracers.js";

// As an ESM and a CommonJS copy of one version are in one process.
jest.resetModules();
const second = {
  ...(await import("../../../src/opentelemetry/index.js")),
  ...(await import("../../../src/pipeline/index.js")),
  ...(await import("../../../src/rate-limit/index.js")),
};

const REQUESTS = "tidegate.limiter.requests";
const ACQUIRED = "limiter.name=api,result=acquired";

let clock: ManualClock;
let meters: Meters;
let stop: () => void;

beforeEach(() => {
  clock = new ManualClock();
  meters = new Meters();
  stop = () => undefined;
});
afterEach(async () => {
  stop();
  metrics.disable();
  diag.disable();
  await meters.shutdown();
  expect(registry()).toMatchObject({ limiterObserver: undefined, callTracer: undefined });
});

describe("the provider", () => {
  test("may be set globally after the import", async () => {
    metrics.setGlobalMeterProvider(meters.provider);
    stop = instrument();
    await new RateLimiter({ maxRowsPerSecond: 1, name: "api", clock }).acquire();
    expect(await meters.values(REQUESTS)).toEqual({ [ACQUIRED]: 1 });
  });

  test("that is given wins over the global one", async () => {
    const other = new Meters();
    metrics.setGlobalMeterProvider(other.provider);
    stop = instrument({ meterProvider: meters.provider });
    await new RateLimiter({ maxRowsPerSecond: 1, name: "api", clock }).acquire();
    expect(await meters.values(REQUESTS)).toEqual({ [ACQUIRED]: 1 });
    expect(await other.values(REQUESTS)).toEqual({});
    await other.shutdown();
  });

  test("may be missing: nothing is recorded, and nothing fails", async () => {
    stop = instrument({ spans: true, limiters: () => [] });
    await new RateLimiter({ maxRowsPerSecond: 1, name: "api", clock }).acquire();
    expect(await first.fn(async () => 1)()).toBe(1);
  });
});

test.each<[string, unknown, string]>([
  ["options", "api", '"options" must be an object of options; got "api"'],
  [
    "meterProvider",
    { meterProvider: {} },
    '"meterProvider" must be a MeterProvider, with getMeter(); got an object',
  ],
  [
    "meterProvider",
    { meterProvider: null },
    '"meterProvider" must be a MeterProvider, with getMeter(); got null',
  ],
  [
    "tracerProvider",
    { tracerProvider: 5 },
    '"tracerProvider" must be a TracerProvider, with getTracer(); got 5',
  ],
  ["spans", { spans: "yes" }, '"spans" must be a boolean; got "yes"'],
  ["spans", { spans: null }, '"spans" must be a boolean; got null'],
  ["limiters", { limiters: [] }, '"limiters" must be a function; got an array of 0'],
])("refuses %s that cannot be: %j", (option, options, message) => {
  const refused = (): unknown => instrument(options as InstrumentOptions);
  expect(refused).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID", option }));
  expect(refused).toThrow(`${message}.`);
});

test("leaves nothing behind when a provider throws", () => {
  const fail = (): never => {
    throw new Error("no tracer");
  };
  const options = { meterProvider: meters.provider, tracerProvider: { getTracer: fail }, spans: true };
  expect(() => instrument({ ...options, limiters: () => [] })).toThrow("no tracer");
  const noMeter = { getMeter: fail };
  expect(() => instrument({ meterProvider: noMeter })).toThrow("no tracer");
});

test("takes undefined for an option that was left out", async () => {
  metrics.setGlobalMeterProvider(meters.provider);
  const options = {
    meterProvider: undefined,
    tracerProvider: undefined,
    spans: undefined,
    limiters: undefined,
  };
  stop = instrument(options);
  await new RateLimiter({ maxRowsPerSecond: 1, name: "api", clock }).acquire();
  expect(await meters.values(REQUESTS)).toEqual({ [ACQUIRED]: 1 });
  expect(registry().callTracer).toBeUndefined();
});

describe("of two copies of the package", () => {
  test("either records the limiters of both", async () => {
    expect(second.instrument).not.toBe(instrument); // really a second copy
    stop = second.instrument({ meterProvider: meters.provider });
    const mine = new RateLimiter({ maxRowsPerSecond: 1, burstWindowSecs: 0, name: "api", clock });
    const theirs = new second.RateLimiter({ maxRowsPerSecond: 1, burstWindowSecs: 0, name: "api", clock });
    for (const limiter of [mine, theirs]) {
      await limiter.acquire();
      limiter.acquire().catch(() => undefined);
      limiter.close();
      expect(await errorOf(limiter.acquire())).toMatchObject({ code: "LIMITER_CLOSED" });
    }
    expect(await meters.values(REQUESTS)).toEqual({
      [ACQUIRED]: 2,
      "limiter.name=api,result=rejected,error.type=LIMITER_CLOSED": 4,
    });
    expect(await meters.values("tidegate.limiter.queued_requests")).toEqual({ "limiter.name=api": 0 });
  });

  test("either makes spans of the functions of both", async () => {
    const tracers = new Tracers();
    stop = second.instrument({ tracerProvider: tracers.provider, spans: true });
    const inner = second.fn(async function inner() {
      tracers.mark("in it");
    });
    await first.fn(async function outer() {
      await inner();
    })();
    expect(tracers.paths).toEqual(["outer", "outer > inner", "outer > inner > in it"]);
    await tracers.shutdown();
  });
});

test("an exporter that throws harms nobody", async () => {
  const failures: unknown[] = [];
  diag.setLogger({
    error: (...told) => failures.push(told),
    warn: () => undefined,
    info: () => undefined,
    debug: () => undefined,
    verbose: () => undefined,
  });
  const broken = {
    export: (): never => {
      throw new Error("exporter");
    },
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  const meterProvider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: broken })],
  });
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(broken)] });
  stop = instrument({ meterProvider, tracerProvider, spans: true });
  const limiter = new RateLimiter({ maxRowsPerSecond: 1, burstWindowSecs: 0, name: "api", clock });
  const work = first.fn(async (n: number) => {
    await limiter.acquire();
    return n;
  });
  const run = new first.App("app", () => first.map(work, [1, 2, 3])).run();
  await clock.advance(3_000);
  expect(await run).toEqual([1, 2, 3]);
  await meterProvider.forceFlush().catch((error: unknown) => failures.push(error));
  expect(failures.length).toBeGreaterThan(0); // it has really thrown
  expect(limiter.stats()).toMatchObject({ granted: 3, queued: 0 });
  await meterProvider.shutdown().catch(() => undefined);
  await first.fn(async () => undefined)();
});

test("a meter whose instruments throw harms nobody", async () => {
  const fail = (): never => {
    throw new Error("meter");
  };
  const instrumentOf = (): object => ({ add: fail, record: fail });
  const meter = {
    createCounter: instrumentOf,
    createUpDownCounter: instrumentOf,
    createHistogram: instrumentOf,
  };
  stop = instrument({ meterProvider: { getMeter: () => meter as never } });
  const limiter = new RateLimiter({ maxRowsPerSecond: 1, burstWindowSecs: 0, name: "api", clock });
  const calls = [limiter.acquire(), limiter.acquire()];
  limiter.pause(10);
  await clock.advance(3_000);
  await Promise.all(calls);
});
