import type { IncomingMessage } from "node:http";
import { performance } from "node:perf_hooks";
import { type Listening, listen } from "./listen.js";

/** What a service itself has seen, from its first request to its last answer. */
export interface Tally {
  readonly seconds: number;
  readonly ok: number;
  readonly tooMany: number;
  /** What the answers 200 took, as a share of what the quota allowed in that time. */
  readonly quotaUsed: number;
}

export interface Service extends Listening {
  tally(): Tally;
}

/** What makes one service different from another. */
export interface ServicePlan {
  /** Takes what a request costs from the quota and says true, or says false, and the answer is 429. */
  admit(text: string): boolean;
  answer(text: string): unknown;
  /** Headers of the answer, beside its type. */
  headers?(text: string, admitted: boolean): Readonly<Record<string, string>>;
  quotaUsedIn(seconds: number): number;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A stand-in for a hosted API: real HTTP. It does its own counting. */
export async function startService(plan: ServicePlan): Promise<Service> {
  let ok = 0;
  let tooMany = 0;
  let firstAt: number | undefined;
  let lastAt = 0;

  async function answer(text: string): Promise<Answer> {
    const admitted = plan.admit(text);
    const headers = plan.headers?.(text, admitted) ?? {};
    if (admitted) {
      ok += 1;
      return { status: 200, headers, body: await plan.answer(text) };
    }
    tooMany += 1;
    return { status: 429, headers, body: { error: { message: "Rate limit exceeded." } } };
  }

  const listening = await listen((request, response) => {
    firstAt ??= performance.now();
    void textOf(request)
      .then(answer)
      .then(({ status, headers, body }) => {
        response.writeHead(status, { "content-type": "application/json", ...headers });
        response.end(JSON.stringify(body));
        lastAt = performance.now();
      });
  });

  return {
    ...listening,
    tally() {
      const seconds = firstAt === undefined ? 0 : (lastAt - firstAt) / 1000;
      return { seconds, ok, tooMany, quotaUsed: plan.quotaUsedIn(seconds) };
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += String(part);
  return text;
}
