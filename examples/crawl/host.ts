import type { IncomingMessage, ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { type Listening, listen } from "../support/listen.js";
import { Quota, type QuotaRate, takeAll } from "../support/quota.js";
import type { Tally } from "../support/service.js";

export interface HostedPage {
  /** How long the answer takes, in milliseconds. */
  readonly delayMs: number;
  /** The HTML, or undefined where the answer is a 500. */
  readonly html: () => string | undefined;
}

/** What a host has seen, from its first request to its last one. */
export interface HostTally extends Tally {
  /** Those that have arrived, answered or not. */
  readonly requests: number;
  /** Answers 500. */
  readonly broken: number;
  readonly host: string;
}

export interface Host extends Listening {
  tally(): HostTally;
}

/**
 * A server of pages, by path. It takes a request from its quota when that arrives, and answers 429 when there is no
 * room.
 */
export async function startHost(pages: ReadonlyMap<string, HostedPage>, rate: QuotaRate): Promise<Host> {
  const quota = new Quota(rate);
  const sent = new Map<number, number>();
  let requests = 0;
  let firstAt: number | undefined;
  let lastAt = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests += 1;
    lastAt = performance.now();
    firstAt ??= lastAt;
    const page = pages.get(request.url ?? "");
    const status = takeAll([quota, 1]) ? await statusOf(page, response) : 429;
    if (status === undefined) return;
    sent.set(status, (sent.get(status) ?? 0) + 1);
    response.writeHead(status, { "content-type": "text/html; charset=utf-8" });
    response.end(status === 200 ? page?.html() : undefined);
  }

  const listening = await listen((request, response) => void answer(request, response));
  const host = new URL(listening.url).host;
  return {
    ...listening,
    tally() {
      const seconds = firstAt === undefined ? 0 : (lastAt - firstAt) / 1000;
      const count = (status: number): number => sent.get(status) ?? 0;
      const quotaUsed = quota.usedIn(seconds);
      return { host, requests, seconds, ok: count(200), broken: count(500), tooMany: count(429), quotaUsed };
    },
  };
}

/** When the page is there; undefined when nobody waits for it any more. */
async function statusOf(page: HostedPage | undefined, response: ServerResponse): Promise<number | undefined> {
  if (page === undefined) return 404;
  const gone = new AbortController();
  response.once("close", () => {
    gone.abort();
  });
  try {
    await setTimeout(page.delayMs, undefined, { signal: gone.signal });
  } catch {
    return undefined;
  }
  return page.html() === undefined ? 500 : 200;
}
