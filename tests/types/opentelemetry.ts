// Checked by `npm run types`; never run.
import { metrics, trace } from "@opentelemetry/api";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import {
  ContextKey,
  defaultEnvironment,
  KeyedRateLimiter,
  type Limiter,
  RateBudget,
  RateLimiter,
} from "tidegate";
import { publishEvents } from "tidegate/diagnostics-channel";
import { instrument, type InstrumentOptions, type MeasuredLimiter } from "tidegate/opentelemetry";

const limiter = new RateLimiter({ maxRowsPerSecond: 1 });
const budget = new RateBudget({ requests: { maxRowsPerSecond: 1 }, tokens: { maxRowsPerSecond: 9 } });
const LIMITER = new ContextKey<RateLimiter>("limiter");

// Providers of the API and of its SDK, set or not.
export const ends: (() => void)[] = [
  instrument(),
  instrument({ meterProvider: metrics.getMeterProvider(), tracerProvider: trace.getTracerProvider() }),
  instrument({ meterProvider: new MeterProvider(), tracerProvider: new BasicTracerProvider(), spans: true }),
  instrument({ meterProvider: undefined, tracerProvider: undefined, spans: undefined, limiters: undefined }),
  publishEvents(),
];

// Tokens are measured of what has them, also of what a lifespan makes later.
instrument({ limiters: () => [limiter, budget, defaultEnvironment.tryGet(LIMITER)] });
instrument({ limiters: () => new Set([limiter]) });
export const measured: readonly MeasuredLimiter[] = [limiter, budget];
declare const plain: Limiter;
// @ts-expect-error it says nothing of its tokens
instrument({ limiters: () => [plain] });
// @ts-expect-error each key has tokens of its own
instrument({ limiters: () => [new KeyedRateLimiter<string>({ maxRowsPerSecond: 1 })] });
// @ts-expect-error a list would be read at the call, and never again
instrument({ limiters: [limiter] });
// @ts-expect-error no such option
instrument({ span: true });
// @ts-expect-error there are no options
publishEvents({});

declare const options: InstrumentOptions;
// @ts-expect-error options can be read, not written
options.spans = true;
