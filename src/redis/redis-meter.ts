import type { LineView, Meter } from "../rate-limit/line/meter.js";
import type { StoreUnavailableError } from "./errors.js";
import { amountsOfEach, keepable, missingOf, servedOf } from "./chunk.js";
import { HeldTokens } from "./held-tokens.js";
import { HeardBuckets } from "./heard-buckets.js";
import type { RedisMeterPlan } from "./redis-meter-plan.js";
import type { Amounts, Answer, Command } from "./store.js";

/** How much of the future one request may take beyond its head, in milliseconds, and the time of a request on top. */
const CHUNK_MS = 50;
/** So long before the last of what is held is due the next request goes out, in milliseconds, likewise. */
const EARLY_MS = 25;
/** How often the store is asked again about a head that is not due yet, in milliseconds. */
const LOOK_MS = 1000;
/** Gives back nothing. */
const PROBE = "give";

/**
 * The meter of a line whose buckets live in the store. It has tokens set aside for the head and some of those behind
 * it, in one request at a time, and knows when each is due. A due time counts from the arrival of the answer, so it is
 * never early, however long the answer was on its way.
 */
export class RedisMeter<C> implements Meter<C> {
  readonly #plan: RedisMeterPlan<C>;
  readonly #held = new HeldTokens();
  readonly #heard: HeardBuckets;
  #line: LineView<C> | undefined = undefined;
  #isAsking = false;
  /** When it was last heard when those are due that are held. */
  #lookedAt = -Infinity;
  /** Whether more may be held than those in line will use when it is due. */
  #hasSurplus = false;
  #isTaking = false;
  /** How long the last request was on its way, in milliseconds. */
  #tripMs = 0;

  constructor(plan: RedisMeterPlan<C>) {
    this.#plan = plan;
    this.#heard = new HeardBuckets(plan.buckets, plan.clock.now());
  }

  attach(line: LineView<C>): void {
    this.#line = line;
  }

  /** Tokens in the store's bucket of dimension `d` at `now`, by what was last heard of it; negative is debt. */
  available(d: number, now: number): number {
    return this.#heard.available(d, now);
  }

  tryTake(cost: C, now: number): boolean {
    const amounts = this.#plan.amountsOf(cost);
    const dueAt = this.#held.dueAt(amounts);
    if (dueAt === undefined || dueAt > now || !this.#plan.own.tryTake(cost, now)) return false;
    this.#held.use(amounts);
    this.#isTaking = true;
    return true;
  }

  /** Until the head is due, or until the store is to be asked, which is done when it is time for it. */
  headWaitMs(head: C, now: number): number {
    const { own, amountsOf } = this.#plan;
    if (this.#hasSurplus) this.#returnSurplus(now);
    const heldAt = this.#held.dueAt(amountsOf(head)) ?? Infinity;
    const dueAt = Math.max(heldAt, now + own.headWaitMs(head, now));
    const askAt = this.#isAsking ? Infinity : this.#askAt(now);
    if (askAt > now || dueAt <= now) return Math.max(0, Math.min(dueAt, askAt) - now);
    this.#ask(); // the answer wakes the line
    return dueAt - now;
  }

  /** A lower bound: what the store would say is not known. */
  estimateMs(cost: C, now: number): number {
    // All that is held is for those before it.
    return Math.max(this.#plan.own.estimateMs(cost, now), this.#held.lastDueAt - now);
  }

  join(cost: C): void {
    this.#plan.own.join(cost);
  }

  leave(cost: C): void {
    this.#plan.own.leave(cost);
    if (!this.#isTaking) this.#hasSurplus = true;
    this.#isTaking = false;
  }

  /** What was set aside for one who has left is for those behind it, and goes back when there is none. */
  lead(head: C | undefined, now: number): void {
    this.#plan.own.lead(head, now);
    if (this.#hasSurplus) this.#returnSurplus(now);
  }

  /**
   * Takes in what the store says of itself. The line is to look again then.
   *
   * @param isWritten - Else it says nothing of an outage: a replica that refuses writes answers to a look.
   */
  learn(answer: Answer, isWritten: boolean): void {
    const { outage, own, clock } = this.#plan;
    const now = clock.now();
    if (isWritten) outage.end(now);
    // The buckets in which these were reserved are lost.
    if (this.#heard.learn(answer, now)) this.#held.clear();
    own.resume(now);
    if (answer.pausedForMs === 0) return;
    own.pause(answer.pausedForMs, now);
    // What comes due in a pause would be a burst at its end.
    this.#keep([]);
  }

  /** Finds out whether the store is back, when it is time for another try. */
  probe(): void {
    if (this.#isAsking || this.#plan.clock.now() < this.#plan.outage.until) return;
    this.#isAsking = true;
    this.#call(PROBE, [""], () => undefined);
  }

  /** Gives back tokens by the number that they were reserved or taken by: `id, amounts` of each. */
  giveBack(epoch: string, left: readonly number[]): void {
    if (left.length > 0) this.#plan.store.call("give", [epoch, ...left]).catch(() => undefined);
  }

  #askAt(now: number): number {
    const { own, outage } = this.#plan;
    const lookAt = this.#lookedAt + LOOK_MS;
    const pausedForMs = own.pausedForMs(now);
    const askAt =
      pausedForMs > 0
        ? Math.min(now + pausedForMs, lookAt)
        : Math.min(this.#reserveAt(now), this.#held.isEmpty ? Infinity : lookAt);
    return Math.max(outage.until, askAt);
  }

  /** When those are to be asked for that nothing is held for. */
  #reserveAt(now: number): number {
    const { buckets } = this.#plan;
    if (buckets.every(({ queued }, d) => this.#held.total(d) >= queued)) return Infinity;
    if (this.#held.isEmpty) return now;
    // What the store has ready may still be more than this process may have by itself.
    const usedMs = buckets.map(
      (bucket, d) => ((this.#held.total(d) - bucket.available(now)) * 1000) / bucket.rate.maxRowsPerSecond,
    );
    return Math.max(this.#held.lastDueAt, now + Math.max(...usedMs)) - EARLY_MS - this.#tripMs;
  }

  #ask(): void {
    if (this.#plan.outage.error?.isUnanswered === true) {
      this.probe();
      return;
    }
    this.#isAsking = true;
    // Not at once: whoever calls in the same turn goes with it.
    queueMicrotask(() => {
      const now = this.#plan.clock.now();
      if (this.#reserveAt(now) <= now) {
        const most = this.#heard.within(CHUNK_MS + this.#tripMs, now);
        this.#reserve(missingOf(this.#costs.bind(this), this.#held, most));
      } else if (!this.#held.isEmpty) this.#look();
      else this.#isAsking = false; // everybody has left
    });
  }

  #reserve(amounts: Amounts): void {
    const { clock } = this.#plan;
    const giveBack = ({ epoch, reservations }: Answer): void => {
      for (const { id } of reservations) this.giveBack(epoch, [id, ...amounts]);
    };
    const sentAt = clock.now();
    const hold = (answer: Answer): void => {
      const now = clock.now();
      this.#tripMs = now - sentAt;
      for (const reservation of answer.reservations)
        this.#held.add(reservation, amounts, this.#heard.rates, now);
      // Some may have left in the meantime, or all.
      this.#keep(servedOf(this.#costs(), this.#held).sum);
    };
    this.#call("reserve", amounts, hold, giveBack);
  }

  #look(): void {
    const hear = ({ reservations }: Answer): void => {
      this.#held.reschedule(reservations, this.#heard.rates, this.#plan.clock.now());
    };
    // What the store has put forward, and this process does not know of, nobody may have.
    const forget = (): void => {
      this.#held.clear();
    };
    this.#call("look", [this.#heard.epoch, ...this.#held.ids], hear, undefined, forget);
  }

  /** The one request on its way. Its failure is told to those who wait, or they wait on. */
  #call(
    command: Command,
    args: readonly (string | number)[],
    onAnswer: (answer: Answer) => void,
    onLate?: (answer: Answer) => void,
    onFailure?: () => void,
  ): void {
    const { store, clock, outage, isImpatient } = this.#plan;
    const noteEnd = (answer: Answer | undefined): void => {
      if (answer !== undefined) onLate?.(answer);
      outage.noteEnd(clock.now());
      this.#line?.wake();
    };
    store.call(command, args, noteEnd).then(
      (answer) => {
        this.#isAsking = false;
        this.#lookedAt = clock.now();
        this.learn(answer, true);
        onAnswer(answer);
        this.#line?.wake();
      },
      (error: unknown) => {
        this.#isAsking = false;
        onFailure?.();
        outage.begin(clock.now(), error as StoreUnavailableError, command === PROBE);
        if (isImpatient) this.#line?.dismiss(error);
        else this.#line?.wake();
      },
    );
  }

  #costs(): Iterable<Amounts> {
    return amountsOfEach(this.#line?.costs() ?? [], this.#plan.amountsOf);
  }

  #returnSurplus(now: number): void {
    this.#hasSurplus = false;
    const isThere = (d: number, tokens: number): boolean => this.#held.isThere(d, tokens, now);
    const capacities = this.#plan.buckets.map(({ capacity }) => capacity);
    this.#keep(keepable(this.#costs.bind(this), this.#held, capacities, isThere));
  }

  /** Keeps the first `amounts` of what is held, and gives back the rest. */
  #keep(amounts: Amounts): void {
    this.giveBack(this.#heard.epoch, this.#held.keep(amounts));
  }
}
