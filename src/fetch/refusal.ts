import { wallClockMs } from "../clock.js";
import { readWaitMs } from "./hints/hint.js";
import type { FetchRules } from "./options.js";

/** An answer that says: not now. */
export interface Refusal {
  readonly response: Response;
  /** For how long, in milliseconds; undefined when it does not say. */
  readonly hintMs: number | undefined;
  /** The server says that asking again is of no use. */
  readonly isFinal: boolean;
  /** So it says nothing of the server as it is now. */
  readonly isFromCache: boolean;
}

/** Undefined for an answer that is not a refusal. */
export function refusalOf(response: Response, { statuses }: FetchRules): Refusal | undefined {
  if (!statuses.has(response.status)) return undefined;
  const { headers } = response;
  // 429 means nothing else; any other status is a refusal only where the headers say so.
  const isExplicit = response.status === 429;
  const hintMs = readWaitMs(headers, wallClockMs, !isExplicit);
  if (!isExplicit && hintMs === undefined) return undefined;
  return {
    response,
    hintMs,
    isFinal: headers.get("x-should-retry") === "false",
    isFromCache: isFromCache(response),
  };
}

/** Whether it was kept somewhere on the way: each cache says how old the answer is. */
export function isFromCache({ headers }: Response): boolean {
  return Number.parseFloat(headers.get("age") ?? "") > 0;
}
