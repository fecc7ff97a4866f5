import { type Clock, MAX_DELAY_MS } from "../clock.js";
import { InvalidArgumentError } from "../errors.js";
import { requireFinite, requireName } from "../internal/checks.js";
import { type RateOptions, type RateSettings, resolveRate } from "../rate-limit/bucket/rated-bucket.js";
import type { Budget, Limiter } from "../rate-limit/limiter.js";
import { type LineOptions, type LineSettings, resolveLineOptions } from "../rate-limit/line-options.js";
import { type RedisClient, type SendCommand, senderOf } from "./client.js";

/** What a limiter in a store takes, whatever its buckets are. `L` is what can stand in for it. */
export interface StoreOptions<L> extends LineOptions {
  /** A client of ioredis, iovalkey or node-redis, or a function that sends a command. It stays the caller's. */
  readonly client: RedisClient;
  /** What the processes share: all limiters of this name on one server draw from one budget. */
  readonly name: string;
  /**
   * What `acquire` does while the store is out of reach. `"wait"`: keeps the line and tries again. `"throw"`: rejects with a
   * StoreUnavailableError. A limiter: draws from that one until the store is back. Default `"wait"`.
   */
  readonly onStoreError?: "wait" | "throw" | L | undefined;
  /** How long one call of the store may take, in milliseconds: finite, from 1 up. Default 1000. */
  readonly storeTimeoutMs?: number | undefined;
}

/** Options of a `RedisRateLimiter`. */
export interface RedisRateLimiterOptions extends RateOptions, StoreOptions<Limiter> {
  /**
   * Tokens gained a second by all processes together: finite, above 0. Give all of them the same rate and burst window; a
   * rate that was set at run time goes before these.
   */
  readonly maxRowsPerSecond: number;
}

/** Options of a `RedisRateBudget`, next to its dimensions. */
export type RedisRateBudgetOptions<D extends string> = StoreOptions<Budget<D>>;

/** The options that have nothing to do with rates, checked and complete. */
export interface RedisSettings<L> {
  readonly line: LineSettings;
  readonly send: SendCommand;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly onStoreError: "wait" | "throw" | L;
}

export function resolveOptions<L extends object>(options: StoreOptions<L>): RedisSettings<L> {
  const line = resolveLineOptions(options, "");
  const { client, storeTimeoutMs = 1000, onStoreError = "wait" } = options;
  requireName("name", line.name);
  return {
    line,
    clock: line.clock,
    send: senderOf(client),
    timeoutMs: Math.min(MAX_DELAY_MS, requireFinite("storeTimeoutMs", storeTimeoutMs, 1, "milliseconds")),
    onStoreError: requirePolicy(onStoreError),
  };
}

/**
 * Checks the rate of a bucket. One without a limit would have nothing to share.
 *
 * @param dimension - Whose rate it is in a budget, for errors.
 */
export function resolveSharedRate(options: RateOptions, dimension?: string): RateSettings {
  return requireFiniteRate(resolveRate(options, undefined, dimension), dimension);
}

/** Checks what a rate is changed to. @returns Rate and burst window; empty for what stays as it is in the store. */
export function resolveChange(options: Partial<RateOptions>, dimension?: string): (number | "")[] {
  requireFiniteRate(resolveRate(options, { maxRowsPerSecond: 1, burstWindowSecs: 1 }, dimension), dimension);
  return [options.maxRowsPerSecond ?? "", options.burstWindowSecs ?? ""];
}

function requireFiniteRate(rate: RateSettings, dimension: string | undefined): RateSettings {
  if (rate.maxRowsPerSecond !== Infinity) return rate;
  const option = dimension === undefined ? "maxRowsPerSecond" : `${dimension}.maxRowsPerSecond`;
  throw new InvalidArgumentError(option, "a finite number above 0 (tokens a second)", Infinity);
}

function requirePolicy<L extends object>(value: "wait" | "throw" | L): "wait" | "throw" | L {
  if (value === "wait" || value === "throw") return value;
  if (typeof (value as Partial<Limiter> | null)?.acquire === "function") return value;
  throw new InvalidArgumentError("onStoreError", `"wait", "throw" or a limiter`, value);
}
