import type { ContextKey } from "../context/index.js";
import { LimitedCall } from "./limited-call.js";
import { finderOf } from "./limiter-of.js";
import { type FetchLimiter, type LimitFetchOptions, resolveFetchOptions } from "./options.js";
import { type FetchInput, Outgoing } from "./outgoing.js";

/**
 * Makes a `fetch` that draws from a limiter or budget, for whatever takes one: an SDK, a client, your own code. Each
 * request first waits for its tokens; its signal ends the wait and gives the place up.
 *
 * An answer with status 429, or with 503 and a Retry-After, is a refusal: it pauses the limiter, so that nobody sends
 * until the server is ready, and the request is sent again, behind those that wait. That happens at most twice, unless
 * told, and only when the body can be sent again and the method may be; else the refusal is handed on. What a server
 * says only ever holds callers up, at most for a minute each time; it never raises the rate.
 *
 * An answer is handed on as it came, a stream as a stream.
 *
 * @param limiter - A limiter that can pause or a budget, or the key under which one is provided; a key is looked up at
 *   each call.
 * @throws InvalidArgumentError (`ARGUMENT_INVALID`) for a limiter that cannot pause, or an option that cannot be.
 * @example
 * const client = new OpenAI({ fetch: limitFetch(LIMITER), maxRetries: 0, timeout: 600_000 });
 */
export function limitFetch<L extends FetchLimiter>(
  limiter: L | ContextKey<L>,
  options: LimitFetchOptions<NoInfer<L>> = {},
): typeof globalThis.fetch {
  const rules = resolveFetchOptions(options);
  const find = finderOf(limiter, options.cost !== undefined);
  const limited = async (input: FetchInput, init?: RequestInit): Promise<Response> =>
    new LimitedCall(find(), rules, new Outgoing(input, init)).answer();
  // Some runtimes have more on their fetch, and want it on what is given in its place.
  return Object.assign(limited, options.fetch ?? globalThis.fetch);
}
