import { type Context, context, type Span, SpanStatusCode, trace, type Tracer } from "@opentelemetry/api";
import { EAGER, type EagerThenable, isPlainPromise } from "../context/index.js";
import { describeValue } from "../errors.js";
import type { CallTracer, TracedCall } from "../internal/call-tracer.js";
import { isGenerator, wrapSteps } from "../internal/generators.js";
import { isThenable } from "../internal/thenable.js";
import { type OnOver, whenDone, whenSettled } from "../internal/when-over.js";
import { errorTypeOf, isError } from "./outcome.js";

/** Which attribute holds the name. */
const ATTRIBUTES = { run: "tidegate.app", call: "tidegate.function" } as const;

/** Makes a span of each run and call, and lets nothing that goes wrong with it reach the work. */
export class SpanMaker implements CallTracer {
  readonly #tracer: Tracer;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  around<R>(call: TracedCall, body: () => R): R {
    const begun = this.#begin(call);
    if (begun === undefined) return body();
    const [span, active] = begun;
    const over = endOnce(span);
    let result: R;
    try {
      result = context.with(active, body);
    } catch (error) {
      over({ error });
      throw error;
    }
    if (isPlainPromise(result)) return whenSettled(result, over) as R;
    if (isGenerator(result))
      return wrapSteps(whenDone(result, over), (step) => context.with(active, step)) as R;
    if (isThenable(result) && EAGER in result) {
      void (result as unknown as EagerThenable)[EAGER].then(() => {
        over();
      });
      return result;
    }
    // A thenable of another make is handed on as it is, with all it has; to look at it could make it work twice.
    over();
    return result;
  }

  #begin({ kind, name }: TracedCall): [span: Span, active: Context] | undefined {
    try {
      const attributes = { [ATTRIBUTES[kind]]: name };
      const span = this.#tracer.startSpan(name === "" ? "anonymous" : name, { attributes });
      return [span, trace.setSpan(context.active(), span)];
    } catch {
      return undefined;
    }
  }
}

/** A span ends once, though a generator can be asked for more when it is done. */
function endOnce(span: Span): OnOver {
  let isOver = false;
  return (failure) => {
    if (isOver) return;
    isOver = true;
    if (failure !== undefined) {
      attempt(() => {
        recordFailure(span, failure.error);
      });
    }
    attempt(() => {
      span.end();
    });
  };
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    return;
  }
}

function recordFailure(span: Span, error: unknown): void {
  const isKnown = isError(error);
  const message = isKnown ? error.message : describeValue(error);
  span.setAttribute("error.type", errorTypeOf(error));
  span.setStatus({ code: SpanStatusCode.ERROR, message });
  span.recordException(isKnown ? error : message);
}
