import type { Clock } from "../clock.js";
import { InvalidArgumentError } from "../errors.js";
import { requireFinite, requireName } from "../internal/checks.js";
import { type RateOptions, type RateSettings, resolveRate } from "../rate-limit/bucket/rated-bucket.js";
import type { Limiter } from "../rate-limit/limiter.js";
import { type LineOptions, type LineSettings, resolveLineOptions } from "../rate-limit/line-options.js";
import type { StorePolicy } from "./acquire-by.js";
import { type RedisClient, type SendCommand, senderOf } from "./client.js";

export interface RedisRateLimiterOptions extends RateOptions, LineOptions {
  /** A client of ioredis, iovalkey or node-redis, or a function that sends a command. It stays the caller's. */
  readonly client: RedisClient;
  /** What the processes share: all limiters of this name on one server draw from one bucket. */
  readonly name: string;
  /**
   * Tokens gained a second by all processes together: finite, above 0. Give all of them the same rate and burst window; a
   * rate that was set at run time goes before these.
   */
  readonly maxRowsPerSecond: number;
  /**
   * What `acquire` does while the store is out of reach. `"wait"`: keeps the line and tries again. `"throw"`: rejects with a
   * StoreUnavailableError. A limiter: draws from that one until the store is back. Default `"wait"`.
   */
  readonly onStoreError?: StorePolicy | undefined;
  /** How long one call of the store may take, in milliseconds: finite, from 1 up. Default 1000. */
  readonly storeTimeoutMs?: number | undefined;
}

/** The options, checked and complete. */
export interface RedisSettings {
  readonly line: LineSettings;
  readonly rate: RateSettings;
  readonly send: SendCommand;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly onStoreError: StorePolicy;
}

export function resolveOptions(options: RedisRateLimiterOptions): RedisSettings {
  const line = resolveLineOptions(options, "");
  const { client, storeTimeoutMs = 1000, onStoreError = "wait" } = options;
  requireName("name", line.name);
  return {
    line,
    clock: line.clock,
    rate: requireFiniteRate(resolveRate(options)),
    send: senderOf(client),
    timeoutMs: requireFinite("storeTimeoutMs", storeTimeoutMs, 1, "milliseconds"),
    onStoreError: requirePolicy(onStoreError),
  };
}

/** Checks what a rate is changed to; what is left out stays as it is in the store. */
export function resolveChange(options: Partial<RateOptions>): Partial<RateOptions> {
  requireFiniteRate(resolveRate(options, { maxRowsPerSecond: 1, burstWindowSecs: 1 }));
  return options;
}

/** A bucket without a limit would have nothing to share. */
function requireFiniteRate(rate: RateSettings): RateSettings {
  if (rate.maxRowsPerSecond !== Infinity) return rate;
  throw new InvalidArgumentError("maxRowsPerSecond", "a finite number above 0 (tokens a second)", Infinity);
}

function requirePolicy(value: StorePolicy): StorePolicy {
  if (value === "wait" || value === "throw") return value;
  if (typeof (value as Partial<Limiter> | null)?.acquire === "function") return value;
  throw new InvalidArgumentError("onStoreError", `"wait", "throw" or a limiter`, value);
}
