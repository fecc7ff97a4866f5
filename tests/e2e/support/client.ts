import type { HeaderStyle } from "./quota-headers.js";

/** What a test sets of a client. */
export interface ClientSettings {
  readonly url: string;
  readonly fetch: typeof globalThis.fetch;
  /** The client's own limit on a call. Default: the client's. */
  readonly timeoutMs?: number;
  /** The client's own retries. Default: none. */
  readonly retries?: number;
}

/** A client of HTTP as a test drives it, so that one test is for all of them. */
export interface Client {
  readonly name: string;
  /** The headers of the service that it is made for. */
  readonly style: HeaderStyle;
  /** What it throws when its own time limit passes. */
  readonly timedOut: RegExp;
  /** What it throws when its caller aborts. */
  readonly aborted: RegExp;
  open(settings: ClientSettings): OpenClient;
}

export interface OpenClient {
  /** Sends a POST and gives the text that the service answers. */
  readonly ask: (signal?: AbortSignal) => Promise<string>;
  /** Gives the text that the service answers part by part, as it comes. */
  readonly stream: () => AsyncIterable<string>;
}

export const PROMPT = "How high is the tide?";

/** An error by name, code and message, those of its causes too. */
export function toText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  const own = `${error.constructor.name} ${error.name} ${String(code)}: ${error.message}`;
  return error.cause === undefined ? own : `${own} < ${toText(error.cause)}`;
}
