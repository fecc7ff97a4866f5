import type { Clock } from "../clock.js";
import { makeBucket, type RatedBucket, type RateSettings } from "../rate-limit/bucket/rated-bucket.js";
import type { LineView, Meter } from "../rate-limit/line/meter.js";
import type { StoreUnavailableError } from "./errors.js";
import { HeldTokens } from "./held-tokens.js";
import { Outage } from "./outage.js";
import type { Answer, Command, Store } from "./store.js";

/** How much of the future one request may take beyond its head, in milliseconds. */
const CHUNK_MS = 50;
/** So long before the last of what is held is due the next request goes out, in milliseconds. */
const EARLY_MS = 25;
/** Most costs in one request. */
const MOST_COSTS = 256;
/** How often the store is asked again about a head that is not due yet, in milliseconds. */
const LOOK_MS = 1000;

export interface RedisMeterPlan {
  readonly store: Store;
  readonly clock: Clock;
  readonly rate: RateSettings;
  readonly timeoutMs: number;
  /** Whether those who wait are told of a failure; else they wait until the store is back. */
  readonly isImpatient: boolean;
}

/**
 * The meter of a line whose bucket lives in the store. It has tokens set aside for the head and some of those behind
 * it, in one request at a time, and knows when each is due. A due time counts from the arrival of the answer, so it is
 * never early, however long the answer was on its way.
 */
export class RedisMeter implements Meter<number> {
  /**
   * What one process alone may have, a bucket of the same rate. It puts off what answers and timers that are late would
   * bring too close together, and it is what this process has had when the store has lost it.
   */
  readonly own: RatedBucket;
  readonly outage: Outage;
  readonly #plan: RedisMeterPlan;
  readonly #held = new HeldTokens();
  #line: LineView<number> | undefined = undefined;
  /** What was last heard of the store's bucket: which one it is, and its level. */
  #epoch = "";
  #level: number;
  #heardAt: number;
  #isAsking = false;
  /** When it was last heard when those are due that are held. */
  #lookedAt = -Infinity;

  constructor(plan: RedisMeterPlan) {
    const now = plan.clock.now();
    this.#plan = plan;
    this.own = makeBucket(plan.rate, now);
    this.#level = this.own.capacity;
    this.#heardAt = now;
    this.outage = new Outage(plan.timeoutMs);
  }

  attach(line: LineView<number>): void {
    this.#line = line;
  }

  /** Tokens in the store's bucket at `now`, by what was last heard of it; negative is debt. */
  available(now: number): number {
    return Math.min(this.own.capacity, this.#level + ((now - this.#heardAt) * this.#rate) / 1000);
  }

  tryTake(cost: number, now: number): boolean {
    const dueAt = this.#held.dueAt(cost, this.#rate);
    if (dueAt === undefined || dueAt > now || !this.own.tryTake(cost, now)) return false;
    this.#held.use(cost);
    return true;
  }

  /** Until the head is due, or until the store is to be asked, which is done when it is time for it. */
  headWaitMs(head: number, now: number): number {
    const heldAt = this.#held.dueAt(head, this.#rate) ?? Infinity;
    const dueAt = Math.max(heldAt, now + this.own.headWaitMs(head, now));
    const askAt = this.#isAsking ? Infinity : this.#askAt(now);
    if (askAt > now || dueAt <= now) return Math.max(0, Math.min(dueAt, askAt) - now);
    this.#ask(); // the answer wakes the line
    return dueAt - now;
  }

  /** A lower bound: what the store would say is not known. */
  estimateMs(cost: number, now: number): number {
    const isBehindAll = this.#held.total > 0 && this.own.queued >= this.#held.total;
    return Math.max(this.own.estimateMs(cost, now), isBehindAll ? this.#held.lastDueAt - now : 0);
  }

  join(cost: number): void {
    this.own.join(cost);
  }

  leave(cost: number): void {
    this.own.leave(cost);
  }

  /** What was set aside for one who has left is for those behind it, and goes back when there is none. */
  lead(head: number | undefined, now: number): void {
    this.own.lead(head, now);
    if (head === undefined) this.#returnHeld();
  }

  /** Takes in what the store says of itself. The line is to look again then. */
  learn(answer: Answer): void {
    const { epoch, rate, burstWindowSecs, level, pausedForMs } = answer;
    const now = this.#plan.clock.now();
    this.outage.end();
    // The bucket in which these were reserved is lost.
    if (epoch !== this.#epoch) this.#held.clear();
    this.#epoch = epoch;
    this.#level = level;
    this.#heardAt = now;
    if (rate !== this.#rate || burstWindowSecs !== this.own.rate.burstWindowSecs)
      this.own.changeRate({ maxRowsPerSecond: rate, burstWindowSecs }, now);
    this.own.resume(now);
    if (pausedForMs === 0) return;
    this.own.pause(pausedForMs, now);
    // What comes due in a pause would be a burst at its end.
    this.#returnHeld();
  }

  /** Finds out whether the store is back, when it is time for another try. */
  probe(): void {
    if (this.#isAsking || this.#plan.clock.now() < this.outage.until) return;
    this.#isAsking = true;
    this.#call("look", [""], () => undefined);
  }

  /**
   * Gives back the `tokens` that end at the place of an answer, if nobody has reserved since. Else they are lost to
   * everybody: less than the rate, never more.
   */
  giveBack({ epoch, place }: Pick<Answer, "epoch" | "place">, tokens: number): void {
    if (tokens > 0) this.#plan.store.call("give", [epoch, place, tokens]).catch(() => undefined);
  }

  get #rate(): number {
    return this.own.rate.maxRowsPerSecond;
  }

  #askAt(now: number): number {
    const lookAt = this.#lookedAt + LOOK_MS;
    const pausedForMs = this.own.pausedForMs(now);
    const askAt =
      pausedForMs > 0
        ? Math.min(now + pausedForMs, lookAt)
        : Math.min(this.#reserveAt(now), this.#held.total > 0 ? lookAt : Infinity);
    return Math.max(this.outage.until, askAt);
  }

  /** When those are to be asked for that nothing is held for. */
  #reserveAt(now: number): number {
    const { total, lastDueAt } = this.#held;
    if (total >= this.own.queued) return Infinity;
    const usedAt = now + ((total - this.own.available(now)) * 1000) / this.#rate;
    return total === 0 ? now : Math.max(lastDueAt, usedAt) - EARLY_MS;
  }

  #ask(): void {
    this.#isAsking = true;
    // Not at once: whoever calls in the same turn goes with it.
    queueMicrotask(() => {
      const missing = this.#missing();
      const now = this.#plan.clock.now();
      if (missing.length > 0 && this.#reserveAt(now) <= now) this.#reserve(missing);
      else if (this.#held.total > 0) this.#look();
      else this.#isAsking = false; // everybody has left
    });
  }

  #reserve(costs: readonly number[]): void {
    const tokensOf = ({ found }: Answer): number =>
      costs.slice(0, found.length).reduce((sum, cost) => sum + cost, 0);
    const hold = (answer: Answer): void => {
      if (this.own.queued === 0) {
        this.giveBack(answer, tokensOf(answer));
        return;
      }
      const now = this.#plan.clock.now();
      let place = answer.place - tokensOf(answer);
      for (const [index, waitMs] of answer.found.entries()) {
        const tokens = costs[index] ?? 0;
        place += tokens;
        this.#held.add({ tokens, place, dueAt: now + waitMs, notBefore: now, request: answer });
      }
    };
    this.#call("reserve", [CHUNK_MS * 1000, ...costs], hold, (answer) => {
      this.giveBack(answer, tokensOf(answer));
    });
  }

  #look(): void {
    const { places } = this.#held;
    this.#call("look", [this.#epoch, ...places], ({ found }) => {
      const now = this.#plan.clock.now();
      this.#held.reschedule(new Map(found.map((waitMs, index) => [places[index] ?? NaN, now + waitMs])));
    });
  }

  /** The one request on its way. Its failure is told to those who wait, or they wait on. */
  #call(
    command: Command,
    args: readonly (string | number)[],
    onAnswer: (answer: Answer) => void,
    onLate?: (answer: Answer) => void,
  ): void {
    const { store, clock, isImpatient } = this.#plan;
    const noteEnd = (answer: Answer | undefined): void => {
      if (answer !== undefined) onLate?.(answer);
      this.outage.noteEnd(clock.now());
      this.#line?.wake();
    };
    store.call(command, args, noteEnd).then(
      (answer) => {
        this.#isAsking = false;
        this.#lookedAt = clock.now();
        this.learn(answer);
        onAnswer(answer);
        this.#line?.wake();
      },
      (error: unknown) => {
        this.#isAsking = false;
        this.outage.begin(clock.now(), error as StoreUnavailableError);
        if (isImpatient) this.#line?.dismiss(error);
        else this.#line?.wake();
      },
    );
  }

  /** What those in line need beyond what is held, the head first. */
  #missing(): number[] {
    let held = this.#held.total;
    const missing: number[] = [];
    for (const cost of this.#line?.costs() ?? []) {
      const short = cost - held;
      held = Math.max(0, -short);
      if (short > 0) missing.push(short);
      if (missing.length === MOST_COSTS) break;
    }
    return missing;
  }

  #returnHeld(): void {
    const left = this.#held.clear();
    if (left !== undefined) this.giveBack({ epoch: this.#epoch, place: left.place }, left.tokens);
  }
}
