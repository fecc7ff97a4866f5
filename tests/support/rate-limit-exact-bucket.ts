import { least, most, Rational } from "./rate-limit-rational.js";

const THOUSAND = Rational.of(1000);

/** What law 3 lets stand above the cap while anyone waits, in milliseconds of the rate. */
export const ALLOWANCE_MS = Rational.of(5);

/** How much earlier than its exact time a token may be granted: doubles cannot hold 1000/3. In milliseconds. */
const HALF_NANOSECOND = Rational.of(5e-7);

export interface Shape {
  /** Tokens a second. */
  readonly rate: number;
  readonly capacity: number;
}

export function shapeOf(maxRowsPerSecond: number, burstWindowSecs: number): Shape {
  return { rate: maxRowsPerSecond, capacity: Math.max(1, maxRowsPerSecond * burstWindowSecs) };
}

/**
 * The bucket as the laws describe it, in rational numbers and with no regard to speed. Times are milliseconds, tokens
 * are tokens.
 */
export class ExactBucket {
  #rate: Rational;
  #capacity: Rational;
  #level: Rational;
  #since: Rational;
  #head: Rational | undefined = undefined;
  #pausedUntil: Rational | undefined = undefined;
  #held = false;

  constructor(shape: Shape, tokens: number, now: Rational) {
    this.#rate = Rational.of(shape.rate).over(THOUSAND);
    this.#capacity = Rational.of(shape.capacity);
    this.#level = Rational.of(tokens);
    this.#since = now;
  }

  clone(): ExactBucket {
    const copy = new ExactBucket({ rate: 1, capacity: 1 }, 0, this.#since);
    copy.#rate = this.#rate;
    copy.#capacity = this.#capacity;
    copy.#level = this.#level;
    copy.#head = this.#head;
    copy.#pausedUntil = this.#pausedUntil;
    return copy;
  }

  get capacity(): Rational {
    return this.#capacity;
  }

  get pausedUntil(): Rational | undefined {
    return this.#pausedUntil;
  }

  isPaused(now: Rational): boolean {
    return this.#pausedUntil !== undefined && now.isBelow(this.#pausedUntil);
  }

  /** The level at `now`. Time never goes back, so whatever lies before `now` may be forgotten. */
  levelAt(now: Rational): Rational {
    const until = this.#pausedUntil;
    if (until !== undefined && until.isAtMost(now)) {
      this.#grow(until);
      this.#pausedUntil = undefined;
      this.#level = least(this.#level, Rational.ONE);
    }
    this.#grow(now);
    return this.#level;
  }

  /** Brings it up to `now`, up to when the head has waited for another bucket too: no timer was late on the way. */
  holdTo(now: Rational): void {
    this.#held = true;
    this.#level = least(this.#level, this.#cap());
    this.levelAt(now);
    this.#held = false;
  }

  /** When `tokens` are there, if nobody takes any before; not before `now`. */
  dueAt(tokens: number, now: Rational): Rational {
    const level = this.levelAt(now);
    const until = this.#pausedUntil;
    if (until === undefined) return now.plus(this.#gainMs(tokens, level));
    return until.plus(this.#gainMs(tokens, this.clone().levelAt(until)));
  }

  fits(tokens: number, now: Rational): boolean {
    const level = this.levelAt(now);
    if (this.#pausedUntil !== undefined) return false;
    return Rational.of(tokens).isAtMost(level.plus(this.#rate.times(HALF_NANOSECOND)));
  }

  take(tokens: number, now: Rational): void {
    this.#level = this.levelAt(now).minus(Rational.of(tokens));
  }

  /** @param early - The head before has left without its tokens. */
  lead(head: number | undefined, now: Rational, early: boolean): void {
    this.levelAt(now);
    const before = this.#cap();
    this.#head = head === undefined ? undefined : Rational.of(head);
    const cap = this.#cap();
    if (head === undefined || (early && cap.isBelow(before))) this.#level = least(this.#level, cap);
    else this.#level = least(this.#level, this.#most());
  }

  refund(tokens: number, now: Rational): void {
    const level = this.levelAt(now);
    this.#level = most(level, least(level.plus(Rational.of(tokens)), this.#cap()));
  }

  pause(until: Rational, now: Rational): void {
    this.levelAt(now);
    this.#pausedUntil = this.#pausedUntil === undefined ? until : most(this.#pausedUntil, until);
  }

  resume(now: Rational): void {
    if (this.isPaused(now)) this.#pausedUntil = now;
    this.levelAt(now);
  }

  reshape(shape: Shape, now: Rational): void {
    const level = this.levelAt(now);
    this.#rate = Rational.of(shape.rate).over(THOUSAND);
    this.#capacity = Rational.of(shape.capacity);
    this.#level = least(level, this.#cap());
  }

  #gainMs(tokens: number, level: Rational): Rational {
    return most(Rational.ZERO, Rational.of(tokens).minus(level)).over(this.#rate);
  }

  #cap(): Rational {
    return this.#head === undefined ? this.#capacity : most(this.#capacity, this.#head);
  }

  #most(): Rational {
    const none = this.#head === undefined || this.#held;
    return none ? this.#cap() : this.#cap().plus(this.#rate.times(ALLOWANCE_MS));
  }

  #grow(now: Rational): void {
    if (now === this.#since) return;
    const level = this.#level.plus(now.minus(this.#since).times(this.#rate));
    this.#level = least(level, most(this.#most(), this.#level));
    this.#since = now;
  }
}
