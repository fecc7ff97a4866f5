import { observeLimiters } from "../internal/limiter-observer.js";
import { traceCalls } from "../internal/call-tracer.js";
import { VERSION } from "../internal/version.js";
import { LimiterMetrics } from "./limiter-metrics.js";
import { type InstrumentOptions, resolveInstrumentOptions } from "./options.js";
import { SpanMaker } from "./span-maker.js";
import { measureTokens } from "./token-gauge.js";

/** The name of the meter and of the tracer. */
const SCOPE = "tidegate";

/**
 * Records what all limiters of the process do, those of other copies of the package too, as metrics of OpenTelemetry, and
 * with `spans` each run of an App and each call of an `fn` or `batched` function as a span. Call it once, when the
 * providers are there, before the work begins.
 *
 * A span has the span as its parent that is active where the call is made, and is active itself while the function
 * runs. So the span of an item is below the one around its `map`, if a context manager is registered. Nothing that a
 * user calls a key (of a KeyedRateLimiter, of a ContextKey) becomes an attribute.
 *
 * @returns Ends the recording; the callers that wait then are taken out of `tidegate.limiter.queued_requests`. Calling it
 *   twice does nothing.
 * @throws InvalidArgumentError (`ARGUMENT_INVALID`) for an option that cannot be; it names the option.
 * @example
 * metrics.setGlobalMeterProvider(provider);
 * const stopRecording = instrument({ spans: true, limiters: () => [environment.tryGet(LIMITER)] });
 */
export function instrument(options: InstrumentOptions = {}): () => void {
  const { meterProvider, tracerProvider, spans, limiters } = resolveInstrumentOptions(options);
  // What asks the providers comes first: one that throws leaves nothing behind.
  const meter = meterProvider.getMeter(SCOPE, VERSION);
  const recorded = new LimiterMetrics(meter);
  const spanMaker = spans ? new SpanMaker(tracerProvider.getTracer(SCOPE, VERSION)) : undefined;
  const ends = limiters === undefined ? [] : [measureTokens(meter, limiters)];
  ends.push(observeLimiters(recorded), () => {
    recorded.end();
  });
  if (spanMaker !== undefined) ends.push(traceCalls(spanMaker));
  return () => {
    for (const end of ends.splice(0)) end();
  };
}
