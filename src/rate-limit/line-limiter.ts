/// <reference lib="esnext.disposable" preserve="true" />
import { requireFinite } from "../internal/checks.js";
import { type DimensionStats, type LimiterReport, type LineStats } from "../internal/limiter-report.js";
import type { LocalMeter } from "./line/meter.js";
import { WaitingLine } from "./line/waiting-line.js";
import { type AcquireOptions, checkAcquireOptions } from "./limiter.js";
import type { LineSettings } from "./line-options.js";
import { limiterObserver } from "../internal/limiter-observer.js";

/** What a limiter's handle stands for. */
interface Core<C, R, M> {
  readonly line: WaitingLine<C, R>;
  readonly meter: M;
}

/**
 * What the limiters of this process have in common: a waiting line before a meter `M`. `C` is what a call asks for, `R`
 * what it gets with its tokens.
 */
export abstract class LineLimiter<C, R, M extends LocalMeter<C>> implements Disposable {
  /** For errors and metrics. */
  readonly name: string;
  readonly #own: Core<C, R, M>;
  #successor: (() => LineLimiter<C, R, M>) | undefined = undefined;

  protected constructor({ name, clock, maxQueue }: LineSettings, meter: M) {
    this.name = name;
    const receipt = this.receipt?.bind(this);
    this.#own = { meter, line: new WaitingLine({ name, clock, maxQueue, meter, receipt }) };
  }

  /**
   * Grants nothing for `ms` from now; of two pauses the one that ends later holds. When it ends a bucket holds at most
   * one token, so that waiters come back at the sustained rate.
   *
   * @param ms - Milliseconds, finite, from 0 up.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) when `ms` cannot be.
   */
  pause(ms: number): void {
    requireFinite("ms", ms, 0, "milliseconds");
    // The line looks too: when its head can go is another time now.
    this.change((meter, now) => {
      meter.pause(ms, now);
    });
    limiterObserver()?.paused({ limiter: this.name, ms: this.meter.pausedForMs(this.now) });
  }

  /** Ends a pause now. Does nothing when none holds. */
  resume(): void {
    this.change((meter, now) => {
      meter.resume(now);
    });
  }

  /** Resolves when nobody waits any more; at once when nobody does. */
  onIdle(): Promise<void> {
    return this.#core.line.onIdle();
  }

  /**
   * Rejects whoever waits, and every later call, with a LimiterClosedError. Calling it again does nothing.
   *
   * @param reason - Becomes the `cause` of that error.
   */
  close(reason?: unknown): void {
    this.#core.line.close(reason);
  }

  /** Closes it, as {@link close} without a reason. */
  [Symbol.dispose](): void {
    this.close();
  }

  /**
   * Makes this handle stand for the limiter that has taken its place.
   *
   * @internal
   */
  retire(successor: () => LineLimiter<C, R, M>): void {
    this.#successor = successor;
  }

  /** Makes what a call gets with its tokens. A limiter without it hands out tokens alone. */
  protected receipt?(cost: C): R;

  protected get meter(): M {
    return this.#core.meter;
  }

  protected get now(): number {
    return this.#own.line.clock.now();
  }

  /** Whether the line is open and empty, and no pause holds. */
  protected get isAtRest(): boolean {
    const { line, meter } = this.#core;
    return !line.isClosed && line.queued === 0 && meter.pausedForMs(this.now) === 0;
  }

  /** Waits for `cost`. May throw instead of rejecting. */
  protected acquireCost(cost: C, options: AcquireOptions | undefined): Promise<R> {
    if (options !== undefined) checkAcquireOptions(options);
    return this.#core.line.acquire(cost, options, this.isFree(cost));
  }

  /** Whether a cost is nothing at all: such a call spends nothing and waits for nobody. */
  protected abstract isFree(cost: C): boolean;

  protected tryAcquireCost(cost: C): boolean {
    const { line, meter } = this.#core;
    if (line.isClosed) throw line.closedError();
    return this.isFree(cost) || (meter.holds(cost) && line.tryTake(cost, this.now));
  }

  protected estimateCostMs(cost: C): number {
    const { line, meter } = this.#core;
    if (line.isClosed) return Infinity;
    return this.isFree(cost) ? 0 : meter.estimateMs(cost, this.now);
  }

  /** Changes the meter, then grants what fits since. */
  protected change(apply: (meter: M, now: number) => void): void {
    const { line, meter } = this.#core;
    const now = line.clock.now();
    apply(meter, now);
    line.wake(now);
  }

  protected lineStats(): LineStats {
    const { line, meter } = this.#core;
    const { queued, granted, aborted } = line;
    const { now } = this;
    return { queued, granted, aborted, waitedMs: line.waitedMs(now), pausedForMs: meter.pausedForMs(now) };
  }

  /**
   * For who finds a limiter among provided values.
   *
   * @internal
   */
  limiterReport(): LimiterReport {
    return { ...this.lineStats(), dimensions: this.dimensionStats() };
  }

  protected abstract dimensionStats(): readonly DimensionStats[];

  get #core(): Core<C, R, M> {
    return this.#successor === undefined ? this.#own : this.#successor().#core;
  }
}
