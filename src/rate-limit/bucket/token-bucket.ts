import { LATE_TIMER_MS, type LocalMeter } from "../line/meter.js";

// Sums of doubles come out a hair low: 1000/3 ms three times is 999.9999999999999. Half a nanosecond of rate covers
// it; half a thousandth of a token bounds it at very high rates.
const SLACK_MS = 5e-7;
const MOST_SLACK = 0.5;

/** Rounding of a capacity. */
const CLOSE = 1 + 1e-12;

export interface BucketShape {
  /** Tokens gained a second: above 0, or Infinity. */
  readonly rate: number;
  /** Most tokens held while nobody waits: from 1 up, may be fractional. */
  readonly capacity: number;
}

/**
 * A token bucket (Turner 1986, "New directions in communications") as arithmetic over the time it is given: no
 * promise, no timer, no clock.
 *
 * The level is kept in thousandths of a token, so that whole rates and whole milliseconds stay whole, as a straight
 * line from the last moment at which it was cut off: taking a token lowers the line and moves nothing, so the millionth
 * grant of a backlog is as exact as the first.
 */
export class TokenBucket implements LocalMeter<number> {
  /** Tokens that the waiting line asks for. */
  queued = 0;
  /** Tokens taken so far. */
  taken = 0;
  // Every field starts as a number: one that is undefined for a moment costs an allocation at each later change.
  #rate = 0;
  #capacity = 0;
  /** The level at `#since`, in thousandths; below 0 is debt. */
  #level = 0;
  #since = 0;
  /** The cost of the head of the line; 0 while nobody waits, and for a head that needs none of these tokens. */
  #head = 0;
  #waiting = false;
  /** Most thousandths that the level may reach now. */
  #most = 0;
  #slack = 0;
  #pausedUntil: number | undefined = undefined;
  #heldUntil = -Infinity;

  /** @param tokens - What it holds at `now`, at most the capacity. */
  constructor(shape: BucketShape, tokens: number, now: number) {
    this.#rate = shape.rate;
    this.#capacity = shape.capacity;
    this.#level = tokens * 1000;
    this.#since = now;
    this.#most = this.#mostNow();
    this.#slack = slackOf(shape.rate);
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Whether a full bucket has so many tokens. The product of a rate and a time may miss them by its last bits. */
  holds(tokens: number): boolean {
    return tokens <= this.#capacity * CLOSE;
  }

  /** Tokens at `now`: may be fractional; negative is debt. */
  available(now: number): number {
    return this.#settle(now) / 1000;
  }

  /** Milliseconds from `now` until the pause ends; 0 when none holds. */
  pausedForMs(now: number): number {
    return this.#isPaused(now) ? (this.#pausedUntil as number) - now : 0;
  }

  tryTake(tokens: number, now: number): boolean {
    if (!this.fits(tokens, now)) return false;
    this.take(tokens);
    return true;
  }

  /** Whether the head, or a caller before an empty line, can have its tokens. */
  fits(tokens: number, now: number): boolean {
    const level = this.#settle(now);
    return this.#pausedUntil === undefined && this.#gainMs(level, tokens) === 0;
  }

  /** Takes tokens that fit at the moment up to which the bucket was last asked. */
  take(tokens: number): void {
    this.#level -= tokens * 1000;
    this.taken += tokens;
    // A head above the capacity has what it saved up: what is left is the tail of a late timer, for those behind it.
    if (this.#head > 1) {
      this.#head = 1;
      this.#most = this.#mostNow();
    }
  }

  headWaitMs(head: number, now: number): number {
    return this.#waitMs(head, now);
  }

  estimateMs(tokens: number, now: number): number {
    return this.#waitMs(this.queued + tokens, now);
  }

  join(tokens: number): void {
    this.queued += tokens;
  }

  leave(tokens: number): void {
    this.queued -= tokens;
  }

  /**
   * While anyone waits the level may stand 5 ms of rate above its cap, and for a head above the capacity the cap is
   * that head. What is above the new cap is lost when the cap comes down.
   */
  lead(head: number | undefined, now: number): void {
    if (this.#waiting && head === this.#head) return;
    this.#settle(now);
    this.#heldUntil = -Infinity;
    const before = this.#cap();
    this.#head = head ?? 0;
    this.#waiting = head !== undefined;
    if (!this.#waiting) this.queued = 0; // also what rounding has left of sums beyond 2^53
    this.#most = this.#mostNow();
    if (!this.#waiting || this.#cap() < before) this.#cut(this.#cap(), now);
  }

  /**
   * Says that the head waits until `until` for something else, another bucket perhaps. Only from then on can a timer be
   * late for it, so until then nothing stands above the cap.
   */
  hold(until: number, now: number): void {
    this.#settle(now);
    this.#heldUntil = until;
  }

  /** Whether it has all that it can have while nobody waits. */
  isFull(now: number): boolean {
    return this.#settle(now) >= this.#cap();
  }

  /** Puts tokens back, up to the cap; never lowers the level. */
  refund(tokens: number, now: number): void {
    const room = this.#cap() - this.#settle(now);
    if (room > 0) this.#level += Math.min(tokens * 1000, room);
  }

  /** Takes tokens whether they are there or not. */
  charge(tokens: number, now: number): void {
    this.#settle(now);
    this.#level -= tokens * 1000;
  }

  /** Grants nothing for `ms` from `now`; a pause that ends later stays. */
  pause(ms: number, now: number): void {
    this.#settle(now);
    this.#pausedUntil = Math.max(this.#pausedUntil ?? now, now + ms);
  }

  resume(now: number): void {
    this.#settle(now);
    if (this.#pausedUntil !== undefined) this.#endPause(now);
  }

  /** Changes rate and capacity and keeps the level, debt included, up to the new cap. */
  reshape(shape: BucketShape, now: number): void {
    const level = this.#settle(now);
    this.#rate = shape.rate;
    this.#capacity = shape.capacity;
    this.#slack = slackOf(shape.rate);
    this.#most = this.#mostNow();
    this.#level = Math.min(level, this.#cap());
    this.#since = now;
  }

  /** The cap without the allowance for late timers, in thousandths. */
  #cap(): number {
    return Math.max(this.#capacity, this.#head) * 1000;
  }

  #mostNow(): number {
    return this.#waiting ? this.#cap() + LATE_TIMER_MS * this.#rate : this.#cap();
  }

  #at(now: number): number {
    return this.#rate === Infinity ? Infinity : this.#level + (now - this.#since) * this.#rate;
  }

  #isPaused(now: number): boolean {
    return this.#pausedUntil !== undefined && now < this.#pausedUntil;
  }

  /** Brings cap and pause up to `now`; returns the level then. */
  #settle(now: number): number {
    if (this.#pausedUntil !== undefined && now >= this.#pausedUntil) this.#endPause(this.#pausedUntil);
    if (this.#heldUntil > this.#since) this.#cutAtHold(Math.min(now, this.#heldUntil));
    const level = this.#at(now);
    if (level <= this.#most || (this.#waiting && !this.#isAbove(level, this.#most, now))) return level;
    this.#level = this.#most;
    this.#since = now;
    return this.#most;
  }

  // What is above by rounding only stays: to cut it off would begin a new line, and add up rounding, each time.
  #isAbove(level: number, most: number, now: number): boolean {
    return level > most + Math.abs(now) * this.#rate * 2 * Number.EPSILON;
  }

  // Those who were held come back at the sustained rate, not as a burst.
  #endPause(at: number): void {
    this.#pausedUntil = undefined;
    this.#cut(Math.min(1000, this.#most), at);
  }

  #cutAtHold(at: number): void {
    if (this.#isAbove(this.#at(at), this.#cap(), at)) this.#cut(this.#cap(), at);
  }

  #cut(most: number, now: number): void {
    const level = this.#at(now);
    if (level <= most) return;
    this.#level = most;
    this.#since = now;
  }

  #waitMs(tokens: number, now: number): number {
    const level = this.#settle(now);
    if (this.#pausedUntil === undefined) return this.#gainMs(level, tokens);
    const until = this.#pausedUntil;
    const then = Math.min(this.#at(until), this.#most, 1000);
    return until - now + this.#gainMs(then, tokens);
  }

  #gainMs(level: number, tokens: number): number {
    const missing = tokens * 1000 - level;
    // At the slowest rates the quotient overflows, and a wait of Infinity would get no timer.
    return missing <= this.#slack ? 0 : Math.min(missing / this.#rate, Number.MAX_VALUE);
  }
}

function slackOf(rate: number): number {
  return Math.min(rate * SLACK_MS, MOST_SLACK);
}
