import { channel } from "node:diagnostics_channel";
import { type LimiterObserver, observeLimiters } from "../internal/limiter-observer.js";

/**
 * Publishes what all limiters of the process do on channels of `node:diagnostics_channel`, each event of an observer on
 * `tidegate:limiter:<event>`: `waited`, `granted`, `left`, `refused`, `paused`, `storeLost`, `storeFound`, `retried`. The messages
 * are the events as `observeLimiters` has them. A channel to which nobody has subscribed gets none. Call it once: a second
 * call publishes a second time.
 *
 * @returns Ends the publishing. Calling it twice does nothing.
 * @example
 * const stopPublishing = publishEvents();
 * subscribe("tidegate:limiter:refused", (event) => console.warn(event));
 */
export function publishEvents(): () => void {
  const events: Required<LimiterObserver> = {
    waited: publisherOf("waited"),
    granted: publisherOf("granted"),
    left: publisherOf("left"),
    refused: publisherOf("refused"),
    paused: publisherOf("paused"),
    storeLost: publisherOf("storeLost"),
    storeFound: publisherOf("storeFound"),
    retried: publisherOf("retried"),
  };
  return observeLimiters(events);
}

function publisherOf(event: keyof LimiterObserver): (message: unknown) => void {
  const target = channel(`tidegate:limiter:${event}`);
  return (message) => {
    if (target.hasSubscribers) target.publish(message);
  };
}
