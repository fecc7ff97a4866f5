import { deriveFrame, enterFrame, type ExceptionInfo, type Frame } from "../../context/index.js";
import { describeValue } from "../../errors.js";
import type { Run } from "../../lifespan/index.js";
import { failureLine } from "../main/failure-text.js";
import { realHost } from "../main/host.js";
import { workOf } from "../run/run-work.js";

/**
 * Tells the handlers of `frame` of a failure in it, one after the other until one of them returns; without one, prints
 * a line. Never rejects.
 */
export async function reportFailure(error: unknown, info: ExceptionInfo, frame: Frame): Promise<void> {
  const handlers = frame.handlers ?? [];
  let [latest, latestInfo] = [error, info];
  for (const [index, handler] of handlers.entries()) {
    // What a handler mounts is told to those around it, not to itself.
    const around = deriveFrame(frame, { handlers: handlers.slice(index + 1) });
    try {
      await enterFrame(around, () => handler(latest, latestInfo));
      return;
    } catch (thrown) {
      latest = thrown;
      latestInfo = { ...info, source: "handler", original: error };
    }
  }
  const reasons = [error, ...(latestInfo === info ? [] : [latest])].map(failureLine);
  const line = `${titleOf(info)} failed: ${reasons.join("; its exception handler failed: ")}`;
  if (workOf(frame.run as Run).log?.(line) !== true) realHost().print(line);
}

function titleOf({ source, name, key }: ExceptionInfo): string {
  const item = source === "mountEach" ? `, key ${describeValue(key)}` : "";
  return `${name || "(anonymous)"} (${source}${item})`;
}
