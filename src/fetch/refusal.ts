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
  /** It was kept somewhere on the way, so it says nothing of the server as it is now. */
  readonly isFromCache: boolean;
}

/** Undefined for an answer that is not a refusal. */
export function refusalOf(response: Response, { statuses }: FetchRules): Refusal | undefined {
  if (!statuses.has(response.status)) return undefined;
  const { headers } = response;
  const hintMs = readWaitMs(headers, wallClockMs);
  // 429 means nothing else; of any other status, only one that names a time asks to be called again.
  if (response.status !== 429 && hintMs === undefined) return undefined;
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
