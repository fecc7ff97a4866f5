import { requireFunction } from "../internal/checks.js";
import { enterFrame } from "./enter.js";
import { type ExceptionHandler, nestHandlers } from "./exception-handler.js";
import { deriveFrame } from "./frame.js";
import { currentFrame } from "./storage.js";

/**
 * Calls `body` with `handler` for what is mounted in it, for the whole call tree below it and nothing else. The
 * handlers around it, that of the environment among them, are asked only when it throws. It hears of mounted work alone:
 * what `body` itself throws goes to the caller. A lazy thenable that `body` returns is settled inside, so the result is
 * then a promise.
 *
 * The handler runs in the context of what has failed, with only the handlers around it. It is awaited: the failed item
 * keeps its slot, and the run waits. One handler is asked once for one failure, however often it stands around.
 *
 * @returns What `body` returns.
 * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when an argument is not a function.
 * @example
 * await withExceptionHandler(
 *   (error, { key }) => log.warn(`${String(key)}: ${String(error)}`),
 *   () => mountEach(crawlHost, hosts),
 * );
 */
export function withExceptionHandler<R>(handler: ExceptionHandler, body: () => R): R {
  requireFunction("handler", handler);
  requireFunction("body", body);
  const frame = currentFrame();
  const handlers = nestHandlers([handler], frame?.handlers);
  return enterFrame(deriveFrame(frame, { handlers }), body);
}
