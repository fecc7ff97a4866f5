import { ALLOWANCE_MS, type Shape } from "./rate-limit-exact-bucket.js";
import { type Costs, ExactMeter, type Filled } from "./rate-limit-exact-meter.js";
import { least, most, Rational } from "./rate-limit-rational.js";

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
  readonly costs: Costs;
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

export interface ModelOptions {
  /** The bucket of each dimension; a limiter has one. */
  readonly buckets: readonly Filled[];
  readonly isBudget: boolean;
  readonly maxQueue: number;
}

const NANOSECOND = Rational.of(1e-6);

/**
 * One line before exact buckets. It has no timer: it says when the next thing happens, and whoever drives it goes
 * there.
 */
export class LimiterModel {
  now = Rational.ZERO;
  granted = 0;
  readonly grantedTokens: number[];
  left = 0;
  closed = false;
  readonly outcomes = new Map<number, Outcome>();
  /** The calls that were granted, in order. */
  readonly order: number[] = [];
  readonly meter: ExactMeter;
  readonly #maxQueue: number;
  #queue: ModelWaiter[] = [];
  #waitedByThoseGone = Rational.ZERO;

  constructor(options: ModelOptions) {
    this.meter = ExactMeter.of(options.buckets, options.isBudget, this.now);
    this.grantedTokens = options.buckets.map(() => 0);
    this.#maxQueue = options.maxQueue;
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** Tokens that those in line wait for, of each dimension. */
  get queuedTokens(): number[] {
    return this.grantedTokens.map((_, index) =>
      this.#costsOf(index).reduce((sum, tokens) => sum + tokens, 0),
    );
  }

  get head(): Costs | undefined {
    return this.#queue[0]?.costs;
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
    if (this.queued === 1) this.meter.lead(call.costs, this.now, false);
  }

  /** What becomes of a call that does not join the line, by the order of checks that is settled. */
  #atOnce({ costs, maxWaitMs, timeLeftMs, over }: ModelCall): Omit<Outcome, "at"> | undefined {
    if (this.closed) return { fate: "closed" };
    const [source] = over;
    if (source !== undefined) return { fate: source };
    if (this.tryAcquire(costs)) return { fate: "granted" };
    if (this.queued >= this.#maxQueue) return { fate: "full" };
    const limit = Math.min(maxWaitMs, timeLeftMs);
    if (limit === Infinity) return undefined;
    const estimateMs = this.estimate(costs);
    const fits = estimateMs.isAtMost(Rational.of(limit).plus(NANOSECOND));
    return fits ? undefined : { fate: "too long", estimateMs };
  }

  tryAcquire(costs: Costs): boolean {
    if (isNothing(costs)) return true;
    if (this.queued > 0 || !this.meter.fits(costs, this.now)) return false;
    this.#take(costs);
    return true;
  }

  /**
   * How long a call would wait if nobody left before it, by what each dimension needs alone: the longest of these waits.
   * With one dimension this is exact.
   */
  estimate(costs: Costs): Rational {
    if (isNothing(costs)) return Rational.ZERO;
    this.meter.levelsAt(this.now);
    return costs
      .map((tokens, index) => {
        const { buckets } = this.meter;
        const alone = new ExactMeter(buckets.slice(index, index + 1), false, this.now).clone();
        const asked = [...this.#costsOf(index), tokens].filter((count) => count > 0);
        return this.#played(
          alone,
          asked.map((count) => [count]),
        );
      })
      .reduce(most);
  }

  /** How long a call would wait if nobody left before it. */
  exactWait(costs: Costs): Rational {
    if (isNothing(costs)) return Rational.ZERO;
    return this.#played(this.meter.clone(), [...this.#queue.map((waiter) => waiter.costs), costs]);
  }

  /** Gives back what is above 0, charges what is below. */
  correct(surplus: Costs): void {
    this.meter.correct(surplus, this.now);
    this.wake();
  }

  /** As `correct`, but the line does not look. */
  charge(costs: Costs): void {
    this.meter.take(costs, this.now);
  }

  pause(ms: number): void {
    this.meter.pause(Rational.of(this.now.toNumber() + ms), this.now);
    this.wake();
  }

  resume(): void {
    this.meter.resume(this.now);
    this.wake();
  }

  setRate(shapes: readonly (Shape | undefined)[]): void {
    this.meter.reshape(shapes, this.now);
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
    const due = head === undefined ? undefined : this.meter.dueAt(head.costs, this.now);
    const pauseEnd = this.meter.pauseEnd(this.now);
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
      if (!this.meter.fits(head.costs, this.now)) return;
      this.#take(head.costs);
      this.#remove([head]);
      this.meter.lead(this.head, this.now, false);
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
    if (this.#queue[0] !== head) this.meter.lead(this.head, this.now, true);
  }

  #remove(gone: readonly ModelWaiter[]): void {
    for (const { joinedAt } of gone) {
      this.#waitedByThoseGone = this.#waitedByThoseGone.plus(this.now.minus(joinedAt));
    }
    this.#queue = this.#queue.filter((waiter) => !gone.includes(waiter));
  }

  #take(costs: Costs): void {
    this.meter.take(costs, this.now);
    this.granted += 1;
    for (const [index, tokens] of costs.entries()) {
      this.grantedTokens[index] = (this.grantedTokens[index] ?? NaN) + tokens;
    }
  }

  /** What those in line ask of one dimension. */
  #costsOf(index: number): number[] {
    return this.#queue.map(({ costs }) => costs[index] ?? NaN);
  }

  /** Plays a line to its end; how long that takes. */
  #played(meter: ExactMeter, line: readonly Costs[]): Rational {
    let time = this.now;
    for (const costs of line) {
      meter.lead(costs, time, false);
      if (!meter.fits(costs, time)) time = meter.dueAt(costs, time);
      meter.take(costs, time);
    }
    return time.minus(this.now);
  }

  #settle(id: number, fate: Fate, estimateMs?: Rational): void {
    this.outcomes.set(id, { fate, at: this.now, ...(estimateMs !== undefined && { estimateMs }) });
    if (fate === "granted") this.order.push(id);
  }
}

function isNothing(costs: Costs): boolean {
  return costs.every((tokens) => tokens === 0);
}
