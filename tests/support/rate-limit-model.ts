import { ALLOWANCE_MS, ExactBucket, type Shape } from "./rate-limit-exact-bucket.js";
import { least, Rational } from "./rate-limit-rational.js";

/** What becomes of a call, in the words of the tests. A source is a signal or a scope, by its number. */
export type Fate =
  "granted" | "invalid" | "closed" | "full" | "too long" | "expired" | `signal ${number}` | `scope ${number}`;

export interface Outcome {
  readonly fate: Fate;
  readonly at: Rational;
  /** Of a refusal: the wait that was foreseen. */
  readonly estimateMs?: Rational;
}

export interface ModelCall {
  readonly id: number;
  readonly n: number;
  readonly maxWaitMs: number;
  /** What is left of the time limit around the call. */
  readonly timeLeftMs: number;
  /** Sources that the call follows, and those of them that are over already, in the order in which they are asked. */
  readonly follows: readonly Fate[];
  readonly over: readonly Fate[];
}

interface ModelWaiter extends ModelCall {
  readonly joinedAt: Rational;
  readonly deadline: Rational | undefined;
}

export interface ModelOptions extends Shape {
  readonly initialTokens: number;
  readonly maxQueue: number;
}

const NANOSECOND = Rational.of(1e-6);

/**
 * One line before one exact bucket. It has no timer: it says when the next thing happens, and whoever drives it goes
 * there.
 */
export class LimiterModel {
  now = Rational.ZERO;
  granted = 0;
  grantedTokens = 0;
  left = 0;
  closed = false;
  readonly outcomes = new Map<number, Outcome>();
  /** The calls that were granted, in order. */
  readonly order: number[] = [];
  readonly bucket: ExactBucket;
  readonly #maxQueue: number;
  #queue: ModelWaiter[] = [];
  #waitedByThoseGone = Rational.ZERO;

  constructor(options: ModelOptions) {
    this.bucket = new ExactBucket(options, options.initialTokens, this.now);
    this.#maxQueue = options.maxQueue;
  }

  get queued(): number {
    return this.#queue.length;
  }

  get queuedTokens(): number {
    return this.#queue.reduce((sum, { n }) => sum + n, 0);
  }

  get headTokens(): number | undefined {
    return this.#queue[0]?.n;
  }

  waitedMs(): Rational {
    return this.#queue.reduce(
      (sum, { joinedAt }) => sum.plus(this.now.minus(joinedAt)),
      this.#waitedByThoseGone,
    );
  }

  acquire(call: ModelCall): void {
    const outcome = this.#atOnce(call);
    if (outcome !== undefined) {
      this.#settle(call.id, outcome.fate, outcome.estimateMs);
      return;
    }
    // The moment of a deadline or of the end of a pause is a double itself; rounding it is part of its meaning.
    const deadline =
      call.maxWaitMs === Infinity ? undefined : Rational.of(this.now.toNumber() + call.maxWaitMs);
    this.#queue.push({ ...call, joinedAt: this.now, deadline });
    if (this.queued === 1) this.bucket.lead(call.n, this.now, false);
  }

  /** What becomes of a call that does not join the line, by the order of checks that is settled. */
  #atOnce({ n, maxWaitMs, timeLeftMs, over }: ModelCall): Omit<Outcome, "at"> | undefined {
    if (this.closed) return { fate: "closed" };
    const [source] = over;
    if (source !== undefined) return { fate: source };
    if (n === 0 || this.tryAcquire(n)) return { fate: "granted" };
    if (this.queued >= this.#maxQueue) return { fate: "full" };
    const limit = Math.min(maxWaitMs, timeLeftMs);
    if (limit === Infinity) return undefined;
    const estimateMs = this.estimate(n);
    const fits = estimateMs.isAtMost(Rational.of(limit).plus(NANOSECOND));
    return fits ? undefined : { fate: "too long", estimateMs };
  }

  tryAcquire(n: number): boolean {
    if (n === 0) return true;
    if (this.queued > 0 || !this.bucket.fits(n, this.now)) return false;
    this.#take(n);
    return true;
  }

  /** How long a call would wait if nobody left before it: the line is played to its end. */
  estimate(n: number): Rational {
    if (n === 0) return Rational.ZERO;
    const bucket = this.bucket.clone();
    let time = this.now;
    for (const tokens of [...this.#queue.map((waiter) => waiter.n), n]) {
      bucket.lead(tokens, time, false);
      if (!bucket.fits(tokens, time)) time = bucket.dueAt(tokens, time);
      bucket.take(tokens, time);
    }
    return time.minus(this.now);
  }

  refund(n: number): void {
    this.bucket.refund(n, this.now);
    this.wake();
  }

  charge(n: number): void {
    this.bucket.take(n, this.now);
  }

  pause(ms: number): void {
    this.bucket.pause(Rational.of(this.now.toNumber() + ms), this.now);
  }

  resume(): void {
    this.bucket.resume(this.now);
    this.wake();
  }

  setRate(shape: Shape): void {
    this.bucket.reshape(shape, this.now);
    this.wake();
  }

  /** Ends a signal or a scope. Those who follow it leave together. */
  end(source: Fate): void {
    const before = this.queued;
    this.#leave((waiter) => waiter.follows.includes(source), source);
    if (this.queued < before) this.wake();
  }

  close(): void {
    this.closed = true;
    this.#leave(() => true, "closed");
  }

  /** When the next thing happens by itself; undefined when nothing will. */
  nextEvent(): Rational | undefined {
    const head = this.#queue[0];
    const deadlines = this.#queue.map((waiter) => waiter.deadline);
    const due = head === undefined ? undefined : this.bucket.dueAt(head.n, this.now);
    const pauseEnd = this.bucket.isPaused(this.now) ? this.bucket.pausedUntil : undefined;
    return [due, pauseEnd, ...deadlines]
      .filter((time) => time !== undefined)
      .reduce<Rational | undefined>((a, b) => (a === undefined ? b : least(a, b)), undefined);
  }

  /** What happens when the line looks at the clock. */
  wake(): void {
    // Who should have left before the lateness that timers are forgiven is not granted because a stall hid it.
    this.#expire(this.now.minus(ALLOWANCE_MS));
    do this.#grant();
    while (this.#expire(this.now));
  }

  #grant(): void {
    for (let head = this.#queue[0]; head !== undefined; head = this.#queue[0]) {
      if (!this.bucket.fits(head.n, this.now)) return;
      this.#take(head.n);
      this.#remove([head]);
      this.bucket.lead(this.headTokens, this.now, false);
      this.#settle(head.id, "granted");
    }
  }

  #expire(limit: Rational): boolean {
    const before = this.queued;
    this.#leave(({ deadline }) => deadline?.isAtMost(limit) === true, "expired");
    return this.queued < before;
  }

  #leave(goes: (waiter: ModelWaiter) => boolean, fate: Fate): void {
    const head = this.#queue[0];
    const gone = this.#queue.filter(goes);
    this.#remove(gone);
    for (const { id } of gone) this.#settle(id, fate);
    this.left += gone.length;
    if (this.#queue[0] !== head) this.bucket.lead(this.headTokens, this.now, true);
  }

  #remove(gone: readonly ModelWaiter[]): void {
    for (const { joinedAt } of gone) {
      this.#waitedByThoseGone = this.#waitedByThoseGone.plus(this.now.minus(joinedAt));
    }
    this.#queue = this.#queue.filter((waiter) => !gone.includes(waiter));
  }

  #take(n: number): void {
    this.bucket.take(n, this.now);
    this.granted += 1;
    this.grantedTokens += n;
  }

  #settle(id: number, fate: Fate, estimateMs?: Rational): void {
    this.outcomes.set(id, { fate, at: this.now, ...(estimateMs !== undefined && { estimateMs }) });
    if (fate === "granted") this.order.push(id);
  }
}
