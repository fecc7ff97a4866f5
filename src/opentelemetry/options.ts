import { type MeterProvider, metrics, trace, type TracerProvider } from "@opentelemetry/api";
import { InvalidArgumentError } from "../errors.js";
import { requireBoolean, requireFunction, requireObject } from "../internal/checks.js";
import type { LimiterSource } from "./token-gauge.js";

/** Options of `instrument`. */
export interface InstrumentOptions {
  /** Where the instruments are made. Default: the global one as it is at the call of `instrument`. */
  readonly meterProvider?: MeterProvider | undefined;
  /** Where the spans are made that `spans` asks for. Default: the global one, also one that is set later. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Whether runs of an App and calls of `fn` and `batched` functions make spans. Default false. */
  readonly spans?: boolean | undefined;
  /**
   * Gives the limiters and budgets whose tokens are measured, each under its name, so no two of one name. Called at each
   * collection; what it gives may hold undefined in the place of one that is not made yet. Default: no tokens are
   * measured.
   */
  readonly limiters?: LimiterSource | undefined;
}

export interface Instrumentation {
  readonly meterProvider: MeterProvider;
  readonly tracerProvider: TracerProvider;
  readonly spans: boolean;
  readonly limiters: LimiterSource | undefined;
}

/** Checks the options of `instrument`. */
export function resolveInstrumentOptions(options: InstrumentOptions): Instrumentation {
  const {
    meterProvider = metrics.getMeterProvider(),
    tracerProvider = trace.getTracerProvider(),
    spans = false,
    limiters,
  } = requireObject("options", options);
  requireMethod("meterProvider", meterProvider, "getMeter", "a MeterProvider");
  requireMethod("tracerProvider", tracerProvider, "getTracer", "a TracerProvider");
  requireBoolean("spans", spans);
  if (limiters !== undefined) requireFunction("limiters", limiters);
  return { meterProvider, tracerProvider, spans, limiters };
}

function requireMethod(option: string, provider: unknown, method: string, kind: string): void {
  const found = (provider as Readonly<Record<string, unknown>> | null)?.[method];
  if (typeof found !== "function")
    throw new InvalidArgumentError(option, `${kind}, with ${method}()`, provider);
}
