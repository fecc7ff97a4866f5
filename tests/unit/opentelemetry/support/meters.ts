import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";

/** A meter provider that keeps what it exports. */
export class Meters {
  readonly #exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly provider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: this.#exporter })],
  });

  /** What is measured now, by the name of the instrument. */
  async collect(): Promise<Map<string, MetricData>> {
    this.#exporter.reset();
    await this.provider.forceFlush();
    const metrics = this.#exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
    return new Map(metrics.flatMap(({ metrics }) => metrics).map((data) => [data.descriptor.name, data]));
  }

  /** The values of one instrument: "attribute=value,..." to the value. */
  async values(name: string): Promise<Record<string, unknown>> {
    const points = (await this.collect()).get(name)?.dataPoints ?? [];
    return Object.fromEntries(
      points.map(({ attributes, value }) => [
        Object.entries(attributes)
          .map(([key, of]) => `${key}=${String(of)}`)
          .join(","),
        value,
      ]),
    );
  }

  shutdown(): Promise<void> {
    return this.provider.shutdown();
  }
}
