import { type LimitFetchOptions, limitFetch } from "../../../../src/fetch/index.js";
import { Environment } from "../../../../src/lifespan/index.js";
import { RateLimiter } from "../../../../src/rate-limit/index.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { Trace } from "../../rate-limit/support/trace.js";

/** Where the requests go that are only counted. */
export const URL_OF_IT = "https://api.test/items";

type Input = string | URL | Request;

/** What a server answers to its n-th request, counted from 1. */
export type Server = (count: number, input: Input, init?: RequestInit) => Response | Promise<Response>;

export interface SetUp {
  readonly clock: ManualClock;
  readonly limiter: RateLimiter;
  readonly trace: Trace;
  /** When each request was sent: "t0", or "a t0" for one to ".../a". */
  readonly sent: string[];
  readonly fetch: typeof globalThis.fetch;
  /** Sends a request and writes down under `label` what becomes of it. */
  readonly call: (label: string, init?: RequestInit) => void;
}

/** A limited fetch on a manual clock at 0. Unless told, the limiter is wide: 1,000 requests at once. */
export function setUp(
  server: Server,
  options: LimitFetchOptions<RateLimiter> & { rate?: number; capacity?: number } = {},
): SetUp {
  const { rate = 1_000, capacity = 1_000, ...others } = options;
  const clock = new ManualClock();
  const limiter = new RateLimiter({
    maxRowsPerSecond: rate,
    burstWindowSecs: capacity / rate,
    clock,
    name: "api",
  });
  const { fetch, sent } = serverOf(server, clock);
  const limited = limitFetch(limiter, { fetch, ...others });
  const trace = new Trace(clock);
  const call = (label: string, init?: RequestInit): void => {
    trace.follow(label, limited(`https://api.test/${label}`, init));
  };
  return { clock, limiter, trace, sent, fetch: limited, call };
}

/** A fetch that reaches no network, and the times at which it was called. */
export function serverOf(
  server: Server,
  clock: ManualClock,
): { fetch: typeof globalThis.fetch; sent: string[] } {
  const sent: string[] = [];
  const fetch = async (input: Input, init?: RequestInit): Promise<Response> => {
    const url = typeof input === "object" && "url" in input ? input.url : String(input);
    const label = url === URL_OF_IT ? "" : `${url.slice(url.lastIndexOf("/") + 1)} `;
    sent.push(`${label}t${String(Math.round(clock.now() * 1e6) / 1e6)}`);
    return await server(sent.length, input, init);
  };
  return { fetch, sent };
}

/** Runs a test in a run whose time is that of the clock: so are then the waits of a call by itself. */
export async function inRun(clock: ManualClock, body: () => Promise<void>): Promise<void> {
  await using environment = await new Environment({ clock }).start();
  await environment.run(body);
}

/** An answer that refuses. */
export function refusal(headers: Record<string, string> = {}, status = 429): Response {
  return new Response("refused", { status, headers });
}

export function ok(body = "fine", headers: Record<string, string> = {}): Response {
  return new Response(body, { headers });
}

/** Lets everything run that waits for no timer, streams included. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
}

/** The error that a promise is rejected with. */
export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => {
      throw new Error("It was not rejected.");
    },
    (reason: unknown) => reason,
  );
}
