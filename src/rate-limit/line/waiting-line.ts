import { type AmbientScope, ambientScope, timeLeftMs } from "../../cancellation/index.js";
import type { Clock } from "../../clock.js";
import { Deferred } from "../../internal/deferred.js";
import { Queue } from "../../internal/queue.js";
import { LimiterClosedError, QueueFullError, WaitTooLongError } from "../errors.js";
import type { AcquireOptions } from "../limiter.js";
import { limiterObserver } from "../../internal/limiter-observer.js";
import { Alarm } from "./alarm.js";
import { Census } from "./census.js";
import { Exits } from "./exits.js";
import type { LinePlan } from "./line-plan.js";
import { LATE_TIMER_MS, type LineView, type Meter } from "./meter.js";
import { tellGranted, tellLeft, tellWaited } from "./news.js";
import { type ConditionalWaiter, isConditional, makeWaiter, type Waiter } from "./waiter.js";

const GRANTED = Promise.resolve();

/** Rounding of an estimate, in milliseconds. */
const ROUNDING_MS = 1e-6;

/**
 * Callers that wait for a meter, first in, first out. It knows order, who leaves early, and the one timer; what fits
 * when is the meter's business.
 */
export class WaitingLine<C, R = void> implements LineView<C> {
  readonly name: string;
  readonly clock: Clock;
  granted = 0;
  aborted = 0;
  #closed: { readonly reason: unknown } | undefined = undefined;
  readonly #meter: Meter<C>;
  readonly #maxQueue: number;
  readonly #receipt: ((cost: C) => R) | undefined;
  readonly #queue = new Queue<Waiter<C, R>>();
  /** Made for the first caller that needs it: a program may hold a line for each of very many keys. */
  #exits: Exits<C, R> | undefined = undefined;
  readonly #alarm: Alarm;
  readonly #census = new Census();
  #idle: Deferred<void> | undefined = undefined;

  constructor(plan: LinePlan<C, R>) {
    this.name = plan.name;
    this.clock = plan.clock;
    this.#maxQueue = plan.maxQueue;
    this.#meter = plan.meter;
    this.#receipt = plan.receipt;
    this.#alarm = new Alarm(plan.clock, this.wake.bind(this));
    this.#meter.attach?.(this);
  }

  /**
   * Waits for `cost`. The checks come in a fixed order, and whoever fails one spends nothing.
   *
   * @param free - The cost is nothing: granted in every state of an open line.
   */
  acquire(cost: C, options: AcquireOptions | undefined, free: boolean): Promise<R> {
    if (this.#closed !== undefined) return this.#refuse(cost, this.closedError());
    const signal = options?.signal;
    if (signal?.aborted === true) return this.#refuse(cost, signal.reason);
    const scope = ambientScope();
    if (scope?.ended === true) return this.#refuse(cost, scope.reason);
    if (free) return this.#grantedAtOnce(cost);
    const now = this.clock.now();
    const limit = Math.min(options?.maxWaitMs ?? Infinity, timeLeftMs(scope, this.clock, now));
    // A caller whose time limit has passed gets nothing, though the end of its scope has not come yet.
    if (limit >= 0 && this.tryTake(cost, now)) return this.#grantedAtOnce(cost);
    if (this.queued >= this.#maxQueue)
      return this.#refuse(cost, new QueueFullError(this.name, this.#maxQueue));
    const tooLong = this.#tooLong(cost, now, limit);
    if (tooLong !== undefined) return this.#refuse(cost, tooLong);
    return this.#join(cost, now, scope, options);
  }

  /** Takes `cost` now, or nothing; false while anyone waits. */
  tryTake(cost: C, now: number): boolean {
    if (this.queued > 0 || !this.#meter.tryTake(cost, now)) return false;
    this.noteGranted(cost);
    return true;
  }

  /** Counts, and tells of, a cost that was taken without waiting in line. */
  noteGranted(cost: C): void {
    this.granted += 1;
    limiterObserver()?.granted({ limiter: this.name, cost, waitedMs: 0, call: undefined });
  }

  *costs(): Generator<C, void, void> {
    for (const { cost } of this.#queue) yield cost;
  }

  /** Grants what fits now, lets those go whose time is over, and sets the alarm for what comes next. */
  wake(now = this.clock.now()): void {
    if (this.queued === 0) return;
    // A caller whose time was over before the timer's usual lateness must not be granted because a stall hid it.
    this.#expire(now - LATE_TIMER_MS, now);
    do this.#grantWhatFits(now);
    while (this.#expire(now, now));
    this.#setAlarm(now);
  }

  /** Rejects whoever waits and whoever comes. */
  close(reason: unknown): void {
    if (this.#closed !== undefined) return;
    this.#closed = { reason };
    this.dismiss(this.closedError());
  }

  dismiss(reason: unknown): void {
    this.#dropAll(this.#queue.drain(), reason);
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  closedError(): LimiterClosedError {
    return new LimiterClosedError(this.name, this.#closed?.reason);
  }

  /** Resolves when nobody waits any more; at once when nobody does. */
  onIdle(): Promise<void> {
    if (this.queued === 0) return GRANTED;
    return (this.#idle ??= new Deferred()).promise;
  }

  /** Callers in line. */
  get queued(): number {
    return this.#census.waiting;
  }

  /** Milliseconds that all callers together have waited so far, those in line included. */
  waitedMs(now: number): number {
    return this.#census.waitedMs(now);
  }

  #grantedAtOnce(cost: C): Promise<R> {
    // Without a receipt R is void, and one promise serves all.
    return this.#receipt === undefined ? (GRANTED as Promise<R>) : Promise.resolve(this.#receipt(cost));
  }

  #refuse(cost: C, reason: unknown): Promise<never> {
    limiterObserver()?.refused({ limiter: this.name, cost, reason });
    return Promise.reject(reason);
  }

  #tooLong(cost: C, now: number, limit: number): WaitTooLongError | undefined {
    if (limit === Infinity) return undefined;
    const estimate = this.#meter.estimateMs(cost, now);
    if (estimate <= limit + ROUNDING_MS) return undefined;
    return new WaitTooLongError(this.name, estimate, Math.max(0, limit));
  }

  #join(cost: C, now: number, scope: AmbientScope | undefined, options: AcquireOptions = {}): Promise<R> {
    const { signal, maxWaitMs = Infinity } = options;
    const isWatched = limiterObserver() !== undefined;
    const waiter = makeWaiter<C, R>(cost, now, maxWaitMs, signal, scope, isWatched);
    if (isConditional(waiter)) {
      this.#exits ??= new Exits(this.#dropAll.bind(this));
      // First, for it runs code of the signal: when that throws, nothing has changed.
      this.#exits.follow(waiter);
    }
    this.#census.change(1, now);
    this.#queue.push(waiter);
    this.#meter.join(cost);
    if (this.queued === 1) this.#meter.lead(cost, now);
    try {
      if (this.queued === 1 || maxWaitMs !== Infinity) this.#setAlarm(now);
    } catch (error) {
      this.#drop([waiter], () => error, true, now); // a clock that sets no timer
    }
    tellWaited(this.name, waiter);
    return waiter.promise;
  }

  #grantWhatFits(now: number): void {
    for (let head = this.#queue.head; head !== undefined; head = this.#queue.head) {
      // Ended by a signal or scope of which somebody else was told first, who has moved the line.
      const end = isConditional(head) ? head.endedBy : undefined;
      if (end !== undefined) this.#drop([head], () => end.reason, true, now);
      else if (this.#meter.tryTake(head.cost, now)) this.#grant(head, now);
      else return;
    }
  }

  #grant(head: Waiter<C, R>, now: number): void {
    // First, so that the last caller goes on before those who wait for an idle line.
    head.grant(this.#receipt?.(head.cost) as R);
    this.#takeOut(head, now);
    this.granted += 1;
    this.#meter.lead(this.#queue.head?.cost, now);
    tellGranted(this.name, head, now);
  }

  /** Lets those go whose deadline is at `limit` or before; whether there were any. */
  #expire(limit: number, now: number): boolean {
    const head = this.#queue.head;
    if (head === undefined || this.#exits === undefined || this.#exits.earliest() > limit) return false;
    const more = this.#meter.headWaitMs(head.cost, now);
    const reasonOf = ({ maxWaitMs }: ConditionalWaiter<C, R>): unknown =>
      new WaitTooLongError(this.name, maxWaitMs + more, maxWaitMs);
    this.#drop(this.#exits.takeDue(limit), reasonOf, false, now);
    return true;
  }

  #dropAll(waiters: Iterable<Waiter<C, R>>, reason: unknown): void {
    const now = this.clock.now();
    this.#drop(waiters, () => reason, true, now);
    this.wake(now);
  }

  #drop<W extends Waiter<C, R>>(
    waiters: Iterable<W>,
    reasonOf: (waiter: W) => unknown,
    handled: boolean,
    now: number,
  ): void {
    const head = this.#queue.head;
    const gone: [W, unknown][] | undefined = limiterObserver() === undefined ? undefined : [];
    for (const waiter of waiters) {
      const reason = reasonOf(waiter);
      waiter.reject(reason, handled);
      this.#takeOut(waiter, now);
      this.aborted += 1;
      gone?.push([waiter, reason]);
    }
    // Once all of them are out: one in between must not cost the new head what the old one had.
    if (this.#queue.head !== head) this.#meter.lead(this.#queue.head?.cost, now);
    if (gone !== undefined) tellLeft(this.name, gone, now);
  }

  #takeOut(waiter: Waiter<C, R>, now: number): void {
    this.#census.change(-1, now);
    this.#queue.remove(waiter);
    this.#meter.leave(waiter.cost);
    if (isConditional(waiter)) this.#exits?.unfollow(waiter);
    if (this.queued > 0) return;
    this.#alarm.clear();
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  #setAlarm(now: number): void {
    const head = this.#queue.head;
    if (head === undefined) return;
    const next = Math.min(now + this.#meter.headWaitMs(head.cost, now), this.#exits?.earliest() ?? Infinity);
    if (next !== Infinity) this.#alarm.set(next, now);
  }
}
