import { enterSlot, inSlot } from "./shared-slot.js";

/** A run of an App, or a call of a pipeline function. */
export interface TracedCall {
  readonly kind: "run" | "call";
  /** Of the app, or of the function; empty for a function without a name. */
  readonly name: string;
}

/** Stands around every run and call. */
export interface CallTracer {
  /** Calls `body` once, in the async context that it shall have, and gives what that gives. */
  around<R>(call: TracedCall, body: () => R): R;
}

/**
 * Stands around the runs and calls of the process from now on, those of other copies of the package too. Of several the
 * first is the outermost.
 *
 * @returns Ends that; what is under way goes on as it began.
 */
export function traceCalls(tracer: CallTracer): () => void {
  return enterSlot("callTracer", tracer, nest);
}

/** The tracers as one; undefined while there is none. */
export function callTracer(): CallTracer | undefined {
  return inSlot("callTracer") as CallTracer | undefined;
}

function nest(tracers: readonly CallTracer[]): CallTracer {
  return {
    around: <R>(call: TracedCall, body: () => R): R => {
      const nested = tracers.reduceRight<() => R>((inner, tracer) => () => tracer.around(call, inner), body);
      return nested();
    },
  };
}
