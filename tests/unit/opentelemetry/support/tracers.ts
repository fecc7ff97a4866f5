import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

/** A tracer provider that keeps what it exports, and the global context manager of Node. */
export class Tracers {
  readonly #exporter = new InMemorySpanExporter();
  readonly provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.#exporter)] });
  readonly #user = this.provider.getTracer("user");

  constructor() {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  }

  /** Calls `body` in a span of the user, which ends with it. */
  readonly inSpan = async <R>(name: string, body: () => R | PromiseLike<R>): Promise<R> => {
    return this.#user.startActiveSpan(name, async (span) => {
      try {
        return await body();
      } finally {
        span.end();
      }
    });
  };

  /** Makes a span of the user that has no duration. */
  readonly mark = (name: string): void => {
    this.#user.startSpan(name).end();
  };

  get spans(): readonly ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  /** Each span that has ended, with those around it, "outer > inner", in the order of their names. */
  get paths(): string[] {
    const byId = new Map(this.spans.map((span) => [span.spanContext().spanId, span]));
    const pathOf = (span: ReadableSpan): string => {
      const parentId = span.parentSpanContext?.spanId;
      const parent = parentId === undefined ? undefined : byId.get(parentId);
      if (parentId !== undefined && parent === undefined) return `unended > ${span.name}`;
      return parent === undefined ? span.name : `${pathOf(parent)} > ${span.name}`;
    };
    return this.spans.map(pathOf).sort();
  }

  one(name: string): ReadableSpan {
    const found = this.spans.filter((span) => span.name === name);
    if (found.length !== 1) throw new Error(`There are ${String(found.length)} spans "${name}".`);
    return found[0] as ReadableSpan;
  }

  /** Whether a span says that it has failed, and with what. */
  failureOf(name: string): unknown {
    const { status, events, attributes } = this.one(name);
    if (status.code !== SpanStatusCode.ERROR) return undefined;
    return {
      message: status.message,
      type: attributes["error.type"],
      exceptions: events.map(({ name: event, attributes: of }) => [
        event,
        of?.["exception.type"],
        of?.["exception.message"],
      ]),
    };
  }

  async shutdown(): Promise<void> {
    await this.provider.shutdown();
    context.disable();
    trace.disable();
  }
}
