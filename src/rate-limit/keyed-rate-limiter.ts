/// <reference lib="esnext.disposable" preserve="true" />
import { requireLimit } from "../internal/checks.js";
import { limiterObserver } from "../internal/limiter-observer.js";
import { type RateOptions, type RateSettings, resolveRate } from "./bucket/rated-bucket.js";
import { KeyLimitError } from "./errors.js";
import { type LineOptions, type LineSettings, resolveLineOptions } from "./line-options.js";
import type { AcquireOptions } from "./limiter.js";
import { RateLimiter } from "./rate-limiter.js";

export interface KeyedRateLimiterOptions extends RateOptions, LineOptions {
  /**
   * Most keys held at once: an integer from 1 up, or Infinity. A call for a further key fails with a KeyLimitError when
   * none of up to 1,000 that it looks at can go: no key in use is ever reset to make room. A limiter that a caller has kept works on without a
   * place; its key counts while it is in use. Default Infinity.
   */
  readonly maxKeys?: number | undefined;
}

/** Keys that are looked at when a new one comes: more than one, so that the sweep outruns the growth. */
const LEAST_SWEPT = 2;

/**
 * While keys can go, as many are looked at: the keys of a busy hour are gone soon, and no call waits long. A crowd of
 * more than these is also looked at when no new key comes.
 */
const MOST_SWEPT = 1000;

/**
 * One budget per key: a tenant, a host, a model. Each key has a {@link RateLimiter} of its own, made at its first use.
 *
 * A key is dropped when that changes nothing: it is open, its bucket is full, nobody waits, no pause holds, and its rate
 * is the one that all keys start with. Old keys are looked at when others are asked for, so there is no timer. A limiter that a caller
 * has kept works on after its key was dropped, and shares its budget with whoever asks for that key again; only its counts
 * of the past start anew.
 *
 * @example
 * const perHost = new KeyedRateLimiter<string>({ maxRowsPerSecond: 2 });
 * await perHost.acquire(new URL(page).host);
 */
export class KeyedRateLimiter<K> implements Disposable {
  /** For errors and metrics; all keys share it. */
  readonly name: string;
  readonly #options: RateSettings & LineSettings;
  readonly #maxKeys: number;
  readonly #limiters = new Map<K, RateLimiter>();
  /** Where the sweep goes on; the iterator of a Map stays right while entries come and go. */
  #sweep = this.#limiters.entries();
  #closed: { readonly reason: unknown } | undefined = undefined;

  /** @throws InvalidArgumentError (`ARGUMENT_INVALID`) for an option that cannot be; it names the option. */
  constructor(options: KeyedRateLimiterOptions) {
    this.#options = { ...resolveLineOptions(options, "keyed limiter"), ...resolveRate(options) };
    const { maxKeys = Infinity } = options;
    this.#maxKeys = requireLimit("maxKeys", maxKeys);
    this.name = this.#options.name;
  }

  /**
   * The limiter of a key. Keys are compared as those of a Map. After `close` it is a closed one.
   *
   * @throws KeyLimitError (`KEY_LIMIT`) when the key is new, `maxKeys` are held, and none that it looks at can go.
   */
  for(key: K): RateLimiter {
    const known = this.#limiters.get(key);
    if (known === undefined) {
      if (this.#closed === undefined) this.#makeRoom();
      return this.#add(key);
    }
    if (this.#limiters.size > MOST_SWEPT) this.#dropUnused(1, MOST_SWEPT);
    return known;
  }

  /**
   * `for(key).acquire(n, options)`; what `for` throws is a rejection.
   *
   * @param n - Tokens, an integer from 0 up. Default 1.
   */
  acquire(key: K, n = 1, options?: AcquireOptions): Promise<void> {
    try {
      return this.for(key).acquire(n, options);
    } catch (error) {
      limiterObserver()?.refused({ limiter: this.name, cost: n, reason: error });
      return Promise.reject(error);
    }
  }

  /**
   * `for(key).tryAcquire(n)`.
   *
   * @param n - Tokens, an integer from 0 up. Default 1.
   */
  tryAcquire(key: K, n?: number): boolean {
    return this.for(key).tryAcquire(n);
  }

  /** How many keys are in use. All are looked at, and those that are not are dropped. */
  get size(): number {
    this.#dropUnused(this.#limiters.size, Infinity);
    return this.#limiters.size;
  }

  /**
   * Closes the limiters of all keys, those of new keys too. Calling it again does nothing.
   *
   * @param reason - Becomes the `cause` of the LimiterClosedError.
   */
  close(reason?: unknown): void {
    if (this.#closed !== undefined) return;
    this.#closed = { reason };
    for (const limiter of this.#limiters.values()) limiter.close(reason);
  }

  /** Closes it, as {@link close} without a reason. */
  [Symbol.dispose](): void {
    this.close();
  }

  #makeRoom(): void {
    this.#dropUnused(LEAST_SWEPT, MOST_SWEPT);
    if (this.#limiters.size < this.#maxKeys) return;
    // No more than that: whoever floods it with keys must not make it look at all of them each time.
    this.#dropUnused(Math.min(this.#limiters.size, MOST_SWEPT), MOST_SWEPT);
    if (this.#limiters.size >= this.#maxKeys) throw new KeyLimitError(this.name, this.#maxKeys);
  }

  #add(key: K): RateLimiter {
    const limiter = new RateLimiter(this.#options);
    // A closed limiter is not kept: it would never be dropped, and take a place.
    if (this.#closed === undefined) this.#limiters.set(key, limiter);
    else limiter.close(this.#closed.reason);
    return limiter;
  }

  /** Looks at `least` keys, and at more, up to `most`, as long as it finds those that can go. */
  #dropUnused(least: number, most: number): void {
    for (let looked = 0, found = true; looked < least || (found && looked < most); looked += 1) {
      const next = this.#nextKey();
      if (next === undefined) return;
      const [key, limiter] = next;
      found = limiter.isAsNew(this.#options);
      if (!found) continue;
      this.#limiters.delete(key);
      // Whatever maxKeys says: a limiter that was kept could not fail had its key not been dropped.
      limiter.retire(() => this.#limiters.get(key) ?? this.#add(key));
    }
  }

  #nextKey(): [K, RateLimiter] | undefined {
    const next = this.#sweep.next();
    if (next.done !== true) return next.value;
    this.#sweep = this.#limiters.entries();
    return this.#sweep.next().value;
  }
}
