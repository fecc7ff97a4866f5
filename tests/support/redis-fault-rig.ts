import { setTimeout as pass } from "node:timers/promises";
import { expect } from "@jest/globals";
import { Redis } from "ioredis";
import { observeLimiters } from "../../src/internal/limiter-observer.js";
import { RedisRateLimiter, type RedisRateLimiterOptions } from "../../src/redis/index.js";
import type { Fault } from "./redis-faults.js";
import { RedisProxy } from "./redis-proxy.js";
import { RedisServer } from "./redis-server.js";

export const RATE = 50;
export const CAPACITY = 5;
/** How far apart answers and timers may come on a busy machine, in milliseconds. */
export const JITTER_MS = 250;

/** How a call has ended. */
export interface End {
  /** "granted", or the code of the error. */
  readonly how: string;
  readonly ms: number;
}

/** A server of its own with a fault, and clients that reach it through a proxy. */
export class FaultRig implements AsyncDisposable {
  readonly server: RedisServer;
  readonly proxy: RedisProxy;
  /** Reaches the server without the proxy. */
  readonly admin: Redis;
  /** Whether the clients of the limiters answer nothing. */
  isMute = false;
  /** The commands that the limiters have sent. */
  readonly sent: string[] = [];
  /** What observers have heard of the store: "lost" and "found". */
  readonly #heard: string[] = [];
  readonly #unhandled: unknown[] = [];
  readonly #fault: Fault;
  readonly #clients: Redis[] = [];
  readonly #limiters: RedisRateLimiter[] = [];
  readonly #onUnhandled = (reason: unknown): void => {
    this.#unhandled.push(reason);
  };
  readonly #stopObserving = observeLimiters({
    storeLost: () => this.#heard.push("lost"),
    storeFound: () => this.#heard.push("found"),
  });

  private constructor(server: RedisServer, proxy: RedisProxy, fault: Fault) {
    this.server = server;
    this.proxy = proxy;
    this.#fault = fault;
    process.on("unhandledRejection", this.#onUnhandled);
    this.admin = this.#connect(server.port);
  }

  static async open(fault: Fault): Promise<FaultRig> {
    const server = await RedisServer.start();
    const rig = new FaultRig(server, await RedisProxy.start(server.port), fault);
    if (fault.isFirst === true) await fault.begin(rig);
    return rig;
  }

  /** A process that shares the budget. */
  limiter(options: Partial<RedisRateLimiterOptions> = {}): RedisRateLimiter {
    const redis = this.#connect(this.proxy.port);
    const client = ([command = "", ...args]: string[]): Promise<unknown> => {
      this.sent.push(args[3] ?? "");
      return this.isMute ? new Promise(() => undefined) : redis.call(command, ...args);
    };
    const { storeTimeoutMs } = this.#fault;
    const rates = { maxRowsPerSecond: RATE, burstWindowSecs: CAPACITY / RATE };
    const limiter = new RedisRateLimiter({ client, name: "faults", storeTimeoutMs, ...rates, ...options });
    this.#limiters.push(limiter);
    return limiter;
  }

  async begin(): Promise<void> {
    if (this.#fault.isFirst !== true) await this.#fault.begin(this);
  }

  /** Callers of no patience, ten every 50 ms for 300 ms; how they have ended. */
  async sendImpatient(limiter: RedisRateLimiter): Promise<End[]> {
    const ends: Promise<End>[] = [];
    for (let round = 0; round < 6; round += 1) {
      for (let count = 0; count < 10; count += 1) ends.push(endOf(limiter.acquire(1, { maxWaitMs: 100 })));
      await pass(50);
    }
    return Promise.all(ends);
  }

  /** Calls again and again until it is so. */
  async until(isSo: () => Promise<boolean>): Promise<void> {
    const startedAt = performance.now();
    while (!(await isSo())) {
      if (performance.now() - startedAt > 6000) throw new Error("Not so in 6 s.");
      await pass(10);
    }
  }

  /**
   * That what was lost was found again, and nobody was told of it twice; that nothing was left unhandled; and that those
   * who are gone have not put the bucket into debt.
   */
  async expectCalm(): Promise<void> {
    const [lost, found] = ["lost", "found"].map(
      (news) => this.#heard.filter((heard) => heard === news).length,
    );
    expect(found).toBe(lost);
    if (!this.#fault.isOutage) expect(lost).toBe(0);
    else {
      expect(lost).toBeGreaterThanOrEqual(2);
      expect(lost).toBeLessThanOrEqual(this.#limiters.length);
    }
    expect(this.#unhandled).toEqual([]);
    const { available = NaN } = (await this.#limiters[0]?.stats()) ?? {};
    expect(available).toBeGreaterThan(-4 * CAPACITY);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const limiter of this.#limiters) limiter.close();
    await pass(20); // for what a close gives back, and for what nobody has handled
    for (const client of this.#clients) client.disconnect();
    this.#stopObserving();
    this.proxy.stop();
    await this.server.stop();
    process.off("unhandledRejection", this.#onUnhandled);
  }

  #connect(port: number): Redis {
    const options = { autoResendUnfulfilledCommands: false, retryStrategy: () => 50 };
    const client = new Redis(port, "127.0.0.1", options);
    client.on("error", () => undefined);
    this.#clients.push(client);
    return client;
  }
}

export async function endOf(call: Promise<unknown>): Promise<End> {
  const startedAt = performance.now();
  const how = await call.then(
    () => "granted",
    (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : String(error)),
  );
  return { how, ms: performance.now() - startedAt };
}

/** The most tokens by which any window of `times` goes beyond the rate. */
export function mostAboveRate(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  let most = 0;
  for (const [from, start] of sorted.entries())
    for (const [count, end] of sorted.slice(from).entries())
      most = Math.max(most, count + 1 - ((end - start) * RATE) / 1000);
  return most;
}
