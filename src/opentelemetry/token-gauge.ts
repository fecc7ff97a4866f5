import type { Attributes, Meter, ObservableResult } from "@opentelemetry/api";

interface Level {
  /** Tokens that are there; below 0 in debt. */
  readonly available: number;
}

/** What has tokens to measure: a RateLimiter, or a RateBudget, whose dimensions are measured one by one. */
export interface MeasuredLimiter {
  /** The attribute `limiter.name` of what is measured. */
  readonly name: string;
  /** Its tokens, or those of each dimension. */
  stats(): Level | { readonly dimensions: Readonly<Record<string, Level>> };
}

/** Gives the limiters to measure, at each collection. */
export type LimiterSource = () => Iterable<MeasuredLimiter | undefined>;

/** Measures the tokens of limiters whenever metrics are collected. @returns Ends that. */
export function measureTokens(meter: Meter, limiters: LimiterSource): () => void {
  const gauge = meter.createObservableGauge("tidegate.limiter.tokens", {
    unit: "{token}",
    description: "Tokens that a limiter has; below 0 it is in debt.",
  });
  const observe = (result: ObservableResult): void => {
    for (const limiter of limiters()) {
      if (limiter !== undefined) observeOne(result, limiter);
    }
  };
  gauge.addCallback(observe);
  return () => {
    gauge.removeCallback(observe);
  };
}

function observeOne(result: ObservableResult, limiter: MeasuredLimiter): void {
  const attributes: Attributes = { "limiter.name": limiter.name };
  const stats = limiter.stats();
  if (!("dimensions" in stats)) {
    result.observe(stats.available, attributes);
    return;
  }
  for (const [dimension, { available }] of Object.entries(stats.dimensions)) {
    result.observe(available, { ...attributes, "limiter.dimension": dimension });
  }
}
