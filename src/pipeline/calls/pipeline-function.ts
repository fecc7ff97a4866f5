import { currentFrame } from "../../context/index.js";
import { callTracer } from "../../internal/call-tracer.js";
import { imitate } from "../../internal/imitate.js";
import { nameOf } from "../../internal/name-of.js";
import { defaultEnvironment } from "../../lifespan/index.js";
import type { AnyFunction } from "./fn-options.js";
import { type CallCounter, markCounting } from "../run/run-tally.js";
import { tallyOf } from "../run/run-work.js";

/**
 * What `fn` and `batched` have in common: the wrapper looks like `f`, runs in the default environment when it is called
 * outside every one and that is running, and is counted by the run that it is called in.
 */
export function pipelineFunction<F extends AnyFunction>(f: F, name = nameOf(f), body: PlainCall): F {
  const call = traced(name, body);
  // That of the last call: most calls come from one run.
  let counter: CallCounter | undefined;
  const wrapper = function (this: unknown, ...args: unknown[]): unknown {
    const frame = currentFrame();
    if (frame?.source === undefined && defaultEnvironment.state === "running")
      return defaultEnvironment.run(() => call(this, args));
    const tally = tallyOf(frame?.run);
    if (tally === undefined) return call(this, args);
    if (counter?.tally !== tally) counter = tally.counter(name);
    return counter.count(call, this, args);
  };
  return markCounting(imitate(wrapper as F, f, name));
}

type PlainCall = (self: unknown, args: unknown[]) => unknown;

function traced(name: string, call: PlainCall): PlainCall {
  return (self, args) => {
    const tracer = callTracer();
    return tracer === undefined
      ? call(self, args)
      : tracer.around({ kind: "call", name }, () => call(self, args));
  };
}
