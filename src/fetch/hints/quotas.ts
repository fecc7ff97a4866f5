import { readDecimal, readGoDuration, readTimestamp } from "./moments.js";
import { readDictionary, readList } from "./structured-list.js";

/** What a server says of one of its quotas. */
export interface Quota {
  /** How much of it is left; NaN for what cannot be read. */
  readonly remaining: number | undefined;
  /** Milliseconds until there is more, or all of it; below 0 for a moment that has passed. */
  readonly resetMs: number | undefined;
}

// x-ratelimit-remaining, x-ratelimit-reset-tokens, anthropic-ratelimit-input-tokens-reset, ratelimit-remaining; and
// x-ratelimit-reset-after, which says once more what x-ratelimit-reset says.
const FIELD = /^(?:x-|anthropic-)?ratelimit-(?:(.+)-)?(remaining|reset)(?:-after)?(?:-(.+))?$/;

/** Above these a bare number is a moment: the one in milliseconds since 1970, the other in seconds. */
const EPOCH_MS = 1e12;
const EPOCH_S = 1e9;

/**
 * Reads what the headers say of quotas, in all the ways that are in use: `x-ratelimit-*` (OpenAI, GitHub and many
 * others), `anthropic-ratelimit-*`, and the drafts of draft-ietf-httpapi-ratelimit-headers. What is malformed is left
 * out.
 *
 * @param now - Milliseconds since 1970, by the clock of the server if it has told.
 */
export function readQuotas(headers: Headers, now: number): readonly Quota[] {
  return [...separateFields(headers, now), ...oneField(headers.get("ratelimit"))];
}

/** A header for each part of a quota; the parts belong together by what the names have beside "remaining". */
function separateFields(headers: Headers, now: number): Quota[] {
  const quotas = new Map<string, { remaining: number | undefined; resetMs: number | undefined }>();
  for (const [name, value] of headers) {
    const match = FIELD.exec(name.toLowerCase());
    if (match === null) continue;
    const [, before = "", part, after = ""] = match;
    const family = `${name.split("ratelimit", 1)[0] ?? ""} ${before} ${after}`;
    const quota = quotas.get(family) ?? { remaining: undefined, resetMs: undefined };
    quotas.set(family, quota);
    if (part === "remaining") quota.remaining = readDecimal(value.trim()) ?? NaN;
    else quota.resetMs = readReset(value.trim(), now);
  }
  return [...quotas.values()];
}

/** `"default";r=0;t=30`, or as the seventh draft had it: `limit=10, remaining=0, reset=30`. */
function oneField(field: string | null): Quota[] {
  if (field === null) return [];
  const old = readDictionary(field);
  const remaining = old?.get("remaining")?.value;
  if (remaining !== undefined) return quotaOf(remaining, old?.get("reset")?.value);
  return (readList(field) ?? []).flatMap(({ parameters }) =>
    quotaOf(parameters.get("r"), parameters.get("t")),
  );
}

/** None where it is not said, as it must be, how much is left. */
function quotaOf(left: unknown, seconds: unknown): Quota[] {
  const remaining = countOf(left);
  return remaining === undefined ? [] : [{ remaining, resetMs: secondsOf(seconds) }];
}

/** A time is written as a Go duration, as a timestamp, or as a number that is a duration or a moment by its size. */
function readReset(text: string, now: number): number | undefined {
  const number = readDecimal(text);
  if (number === undefined) {
    const at = readTimestamp(text);
    return at === undefined ? readGoDuration(text) : at - now;
  }
  if (number >= EPOCH_MS) return number - now;
  return number >= EPOCH_S ? number * 1000 - now : number * 1000;
}

function countOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? value : undefined;
}

function secondsOf(value: unknown): number | undefined {
  const seconds = countOf(value);
  return seconds === undefined ? undefined : seconds * 1000;
}
