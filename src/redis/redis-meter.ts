import type { Clock } from "../clock.js";
import { LATE_TIMER_MS, type LineView, type Meter } from "../rate-limit/line/meter.js";
import type { StoreUnavailableError } from "./errors.js";
import { HeardBucket } from "./heard-bucket.js";
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
  readonly rate: number;
  readonly burstWindowSecs: number;
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
  /** Tokens that the line asks for, and those taken so far. */
  queued = 0;
  taken = 0;
  readonly bucket: HeardBucket;
  readonly outage: Outage;
  readonly #plan: RedisMeterPlan;
  readonly #held = new HeldTokens();
  #line: LineView<number> | undefined = undefined;
  #isAsking = false;
  /** When the due times of what is held were last heard. */
  #heardAt = -Infinity;

  constructor(plan: RedisMeterPlan) {
    this.#plan = plan;
    this.bucket = new HeardBucket(plan.rate, plan.burstWindowSecs, plan.clock.now());
    this.outage = new Outage(plan.timeoutMs);
  }

  attach(line: LineView<number>): void {
    this.#line = line;
  }

  tryTake(cost: number, now: number): boolean {
    const { rate, capacity } = this.bucket;
    this.#held.putOff(Math.max(capacity, cost) + (rate * LATE_TIMER_MS) / 1000, rate, now);
    const dueAt = this.#held.dueAt(cost, rate);
    if (dueAt === undefined || dueAt > now) return false;
    this.#held.use(cost);
    this.taken += cost;
    return true;
  }

  /** Until the head is due, or until the store is to be asked, which is done when it is time for it. */
  headWaitMs(head: number, now: number): number {
    const dueAt = this.#held.dueAt(head, this.bucket.rate) ?? Infinity;
    let askAt = this.#isAsking ? Infinity : this.#askAt(now);
    if (askAt <= now && dueAt > now) {
      this.#ask();
      askAt = Infinity; // the answer wakes the line
    }
    return Math.max(0, Math.min(dueAt, askAt) - now);
  }

  /** A lower bound: what the store would say is not known. */
  estimateMs(_cost: number, now: number): number {
    const isBehindAll = this.#held.total > 0 && this.queued >= this.#held.total;
    return Math.max(this.bucket.pausedForMs(now), isBehindAll ? this.#held.lastDueAt - now : 0);
  }

  join(cost: number): void {
    this.queued += cost;
  }

  leave(cost: number): void {
    this.queued -= cost;
  }

  /** What was set aside for one who has left is for those behind it, and goes back when there is none. */
  lead(head: number | undefined): void {
    if (head === undefined) this.#returnHeld();
  }

  /** Takes in what the store says of itself. The line is to look again then. */
  learn(answer: Answer): void {
    // The bucket in which these were reserved is lost.
    if (answer.epoch !== this.bucket.epoch) this.#held.clear();
    this.outage.end();
    this.bucket.hear(answer, this.#plan.clock.now());
    // What comes due in a pause would be a burst at its end.
    if (answer.pausedForMs > 0) this.#returnHeld();
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

  #askAt(now: number): number {
    const lookAt = this.#heardAt + LOOK_MS;
    const { total, lastDueAt } = this.#held;
    const reserveAt = total < this.queued ? lastDueAt - EARLY_MS : Infinity;
    const pausedForMs = this.bucket.pausedForMs(now);
    const askAt =
      pausedForMs > 0
        ? Math.min(now + pausedForMs, lookAt)
        : Math.min(reserveAt, total > 0 ? lookAt : Infinity);
    return Math.max(this.outage.until, askAt);
  }

  #ask(): void {
    this.#isAsking = true;
    // Not at once: whoever calls in the same turn goes with it.
    queueMicrotask(() => {
      const missing = this.#missing();
      if (missing.length > 0 && this.#plan.clock.now() >= this.#held.lastDueAt - EARLY_MS)
        this.#reserve(missing);
      else if (this.#held.total > 0) this.#look();
      else this.#isAsking = false; // everybody has left
    });
  }

  #reserve(costs: readonly number[]): void {
    const tokensOf = ({ found }: Answer): number =>
      costs.slice(0, found.length).reduce((sum, cost) => sum + cost, 0);
    const hold = (answer: Answer): void => {
      if (this.queued === 0) {
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
    this.#call("look", [this.bucket.epoch, ...places], ({ found }) => {
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
        this.#heardAt = clock.now();
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
    if (left !== undefined) this.giveBack({ epoch: this.bucket.epoch, place: left.place }, left.tokens);
  }
}
