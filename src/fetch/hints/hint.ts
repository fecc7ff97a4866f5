import { boundedMs, readDecimal, readHttpDate } from "./moments.js";
import { readQuotas } from "./quotas.js";

/**
 * How long the headers of a refusal ask to wait, in milliseconds from 0 to a day; undefined when they do not say, or
 * say nothing that can be read.
 *
 * `retry-after-ms` goes before `Retry-After`, and that before what is said of quotas. There the longest wait for a
 * quota of which nothing is left counts; the reset of one of which something is left says when it is full again.
 *
 * @param wallClock - Milliseconds since 1970, for a server that does not send its own `Date`.
 * @param saysSo - Whether a quota must be said to be empty; else one that names a reset and not what is left counts too.
 */
export function readWaitMs(headers: Headers, wallClock: () => number, saysSo = false): number | undefined {
  const now = serverTime(headers) ?? wallClock();
  const waitMs = retryAfterMs(headers, now) ?? emptyQuotaMs(headers, now, saysSo);
  return waitMs === undefined ? undefined : boundedMs(waitMs);
}

/** The time by the clock of the server, so that one that is set wrong, here or there, does no harm. */
function serverTime(headers: Headers): number | undefined {
  return readHttpDate(headers.get("date") ?? "");
}

function retryAfterMs(headers: Headers, now: number): number | undefined {
  const ms = readDecimal(textOf(headers, "retry-after-ms"));
  if (ms !== undefined) return ms;
  const text = textOf(headers, "retry-after");
  const seconds = readDecimal(text);
  if (seconds !== undefined) return seconds * 1000;
  const at = readHttpDate(text);
  return at === undefined ? undefined : at - now;
}

function emptyQuotaMs(headers: Headers, now: number, saysSo: boolean): number | undefined {
  let longest: number | undefined;
  for (const { remaining, resetMs } of readQuotas(headers, now)) {
    const isEmpty = remaining === 0 || (remaining === undefined && !saysSo);
    if (isEmpty && resetMs !== undefined) longest = Math.max(longest ?? 0, resetMs);
  }
  return longest;
}

function textOf(headers: Headers, name: string): string {
  return (headers.get(name) ?? "").trim();
}
