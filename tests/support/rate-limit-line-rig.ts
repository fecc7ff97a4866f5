import {
  type AcquireOptions,
  type BucketStats,
  InvalidArgumentError,
  LimiterClosedError,
  QueueFullError,
  WaitTooLongError,
} from "../../src/rate-limit/index.js";
import { inScope } from "./ambient.js";
import { BadClock, type ExactClock, settlePromises } from "./rate-limit-clocks.js";
import {
  compareCounts,
  compareEstimate,
  compareOutcome,
  compareState,
  EXACT_MS,
  expectSame,
  type Seen,
  type Settled,
} from "./rate-limit-compare.js";
import { shapeOf } from "./rate-limit-exact-bucket.js";
import type { Costs } from "./rate-limit-exact-meter.js";
import { type Fate, LimiterModel } from "./rate-limit-model.js";
import { Rational } from "./rate-limit-rational.js";
import { bucketsOf, type LineSetting, type Rated } from "./rate-limit-settings.js";
import { scopeFate, signalFate, type SourceNumbers, Sources } from "./rate-limit-sources.js";
import { AT, type RateChange, type Step, type StepOf, type Time, type Tokens } from "./rate-limit-steps.js";
import { FARTHEST_MS, goTo } from "./rate-limit-timeline.js";
import { Trace } from "./rate-limit-trace.js";

/** Milliseconds of the rate that a window may hold on top when timers are bad. */
const MADE_UP_MS = 5;

interface Call {
  readonly costs: Costs;
  readonly maxWaitMs: number;
  /** Whether it has joined the line, so that a wait that was too long was not known at the start. */
  readonly joined: boolean;
}

/** Steps that set right what was taken. */
export type Correction = StepOf<"refund" | "charge" | "settle" | "giveBack">;

/**
 * A limiter or a budget and its model, taken through the same steps and compared after each of them.
 *
 * On exact timers the model says by itself when things happen. On a clock with bad timers nobody can; there the model
 * looks when the limiter does, which is when a timer fires.
 */
export abstract class LineRig {
  readonly model: LimiterModel;
  readonly clock: ExactClock | BadClock;
  readonly settled = new Map<number, Settled>();
  readonly order: number[] = [];
  /** What was granted of each dimension. */
  protected readonly traces: readonly Trace[];
  readonly #calls = new Map<number, Call>();
  readonly #sources: Sources;
  #rates: readonly Rated[];
  #compared = 0;
  #nextId = 0;

  constructor({ dimensions, maxQueue }: LineSetting, isBudget: boolean, clock: ExactClock | BadClock) {
    this.#rates = dimensions;
    this.clock = clock;
    this.#sources = new Sources(clock);
    if (clock instanceof BadClock) {
      clock.onFire = () => {
        this.syncNow();
        this.model.wake();
      };
    }
    const buckets = bucketsOf(dimensions);
    this.model = new LimiterModel({ buckets, isBudget, maxQueue });
    this.model.now = Rational.of(clock.now());
    this.traces = buckets.map((bucket) => new Trace(bucket, clock.now()));
  }

  /** What is driven, as far as all of its kind are alike. */
  protected abstract get line(): { pause(ms: number): void; resume(): void; close(): void };
  protected abstract acquireFrom(costs: Costs, options: AcquireOptions): Promise<unknown>;
  protected abstract tryAcquireFrom(costs: Costs): boolean;
  protected abstract estimateFrom(costs: Costs): number;
  /** @param changes - One for each dimension. */
  protected abstract changeRates(changes: readonly (RateChange | undefined)[]): void;
  protected abstract see(): Seen;
  protected abstract correct(step: Correction): void;
  /** Is told of a grant. */
  protected received(_costs: Costs, _receipt: unknown): void {
    // A limiter hands out tokens alone.
  }

  /** The calls that took tokens, in the order of their grants. A call for none of them waits for nobody. */
  get takers(): number[] {
    return this.order.filter((id) => this.#calls.get(id)?.costs.some((tokens) => tokens > 0) === true);
  }

  /** Law 2: throws when any window between two grants holds more than it may, of any dimension. */
  checkBound(): void {
    const lateMs = this.clock instanceof BadClock ? MADE_UP_MS : 0;
    for (const trace of this.traces) trace.checkBound(lateMs);
  }

  async play(steps: readonly Step[]): Promise<void> {
    this.compare();
    for (const step of steps) {
      await this.#do(step);
      await settlePromises();
      this.compare();
    }
  }

  /** Takes the steps, goes on until nobody waits, and checks law 2. */
  async playOut(steps: readonly Step[]): Promise<void> {
    await this.play(steps);
    await this.finish();
    this.checkBound();
  }

  /** Goes on until nobody waits. */
  async finish(): Promise<void> {
    const { clock, model } = this;
    if (clock instanceof BadClock) await clock.finish();
    else {
      while (model.queued > 0) {
        await this.#goTo((model.nextEvent() ?? model.now).plus(Rational.of(AT)), Infinity);
      }
    }
    this.syncNow();
    this.compare();
  }

  /**
   * Starts a call; its number.
   *
   * @param tokens - A number is for each dimension.
   */
  acquire(
    tokens: number | Costs,
    { maxWaitMs, ...numbers }: SourceNumbers & { readonly maxWaitMs?: number } = {},
  ): number {
    const costs = this.costs(tokens);
    const id = this.#nextId++;
    const { signal, scope, follows, over } = this.#sources.forCall(numbers);
    const { timeLeftMs = Infinity } = numbers;
    this.model.acquire({ id, costs, maxWaitMs: maxWaitMs ?? Infinity, timeLeftMs, follows, over });
    const before = this.see().queued;
    const promise = inScope(scope, () => this.acquireFrom(costs, { signal, maxWaitMs }));
    this.#calls.set(id, {
      costs,
      maxWaitMs: maxWaitMs ?? Infinity,
      joined: this.see().queued > before,
    });
    promise.then(
      (receipt) => {
        this.#note(id, "granted", undefined);
        this.order.push(id);
        this.#trace(costs);
        this.received(costs, receipt);
      },
      (error: unknown) => {
        this.#note(id, this.#fateOf(id, error), error);
      },
    );
    return id;
  }

  tryAcquire(tokens: number | Costs): boolean {
    const costs = this.costs(tokens);
    const taken = this.tryAcquireFrom(costs);
    if (taken) this.#trace(costs);
    expectSame(`tryAcquire(${String(costs)})`, taken, this.model.tryAcquire(costs));
    return taken;
  }

  abort(signal: number): void {
    this.model.end(signalFate(signal));
    this.#sources.abort(signal);
  }

  endScope(scope: number): void {
    this.model.end(scopeFate(scope));
    this.#sources.endScope(scope);
  }

  pause(ms: number): void {
    this.model.pause(ms);
    this.line.pause(ms);
  }

  /** @param changes - One for each dimension. */
  setRate(changes: readonly (RateChange | undefined)[]): void {
    this.#rates = this.#rates.map((before, index) => ({
      ...before,
      rate: changes[index]?.rate ?? before.rate,
      burst: changes[index]?.burst ?? before.burst,
    }));
    const shapes = this.#rates.map(({ rate, burst }, index) =>
      changes[index] === undefined ? undefined : shapeOf(rate, burst),
    );
    for (const [index, shape] of shapes.entries()) {
      if (shape !== undefined) this.traces[index]?.reshape(shape, this.clock.now());
    }
    this.model.setRate(shapes);
    this.changeRates(changes);
  }

  /** Moves the time, near to `time` or to it. */
  async advance(time: Time): Promise<void> {
    await this.#goTo(this.moment(time), FARTHEST_MS);
  }

  /** Compares everything that can be seen. */
  compare(): void {
    this.compareOutcomes();
    const seen = this.see();
    compareState(this.model, seen, this.#rates);
    this.compareCounts(seen);
    this.#compareEstimate(this.costs(3));
    if (this.traces.length > 1) this.#compareEstimate(this.traces.map((_, index) => (index === 0 ? 0 : 3)));
  }

  /** Compares what has become of the calls. */
  compareOutcomes(): void {
    expectSame("calls settled", byNumber(this.settled.keys()), byNumber(this.model.outcomes.keys()));
    expectSame("order of grants", this.order, this.model.order);
    for (const [id, settled] of [...this.settled].slice(this.#compared)) {
      compareOutcome(this.model, id, settled, this.#calls.get(id)?.maxWaitMs);
    }
    this.#compared = this.settled.size;
  }

  protected compareCounts(seen: Seen): void {
    compareCounts(this.model, seen, this.#nextId);
    expectSame("timers", this.clock.pending, this.model.queued > 0 ? 1 : 0);
  }

  /** Lets a change happen that may give tokens back, and notes what came back. */
  protected giveBack(change: () => void): void {
    const before = this.see();
    change();
    const after = this.see();
    for (const [index, trace] of this.traces.entries()) {
      const [was, is] = [before.buckets[index], after.buckets[index]] as [BucketStats, BucketStats];
      const taken = is.grantedTokens - was.grantedTokens;
      // What came back is noted before what it paid for, which the promises will note.
      trace.refund(this.clock.now(), is.available + taken - was.available);
    }
  }

  /** The tokens of each dimension. */
  protected costs(tokens: number | Costs): Costs {
    return typeof tokens === "number" ? this.traces.map(() => tokens) : tokens;
  }

  protected count(tokens: Tokens | undefined, dimension: number): number {
    if (tokens === undefined) return 0;
    if ("count" in tokens) return tokens.count;
    const capacity = this.see().buckets[dimension]?.capacity ?? NaN;
    return Math.max(0, Math.floor(capacity) + tokens.overCapacity);
  }

  protected counts(tokens: readonly Tokens[]): Costs {
    return this.traces.map((_, dimension) => this.count(tokens[dimension], dimension));
  }

  #trace(costs: Costs): void {
    for (const [index, tokens] of costs.entries()) this.traces[index]?.grant(this.clock.now(), tokens);
  }

  #compareEstimate(costs: Costs): void {
    compareEstimate(this.model, costs, this.estimateFrom(costs));
  }

  async #do(step: Step): Promise<void> {
    switch (step.do) {
      case "acquire": {
        const costs = this.counts(step.tokens);
        this.acquire(costs, {
          ...(step.maxWait !== undefined && { maxWaitMs: this.#wait(step.maxWait, costs) }),
          ...(step.signal !== undefined && { signal: step.signal }),
          ...(step.scope !== undefined && { scope: step.scope }),
          ...(step.timeLeft !== undefined && { timeLeftMs: this.#wait(step.timeLeft, costs) }),
        });
        return;
      }
      case "tryAcquire":
        if (!this.model.closed) this.tryAcquire(this.counts(step.tokens));
        else expectClosed(() => this.tryAcquireFrom(this.costs(1)));
        return;
      case "refund":
      case "charge":
      case "settle":
      case "giveBack":
        this.correct(step);
        return;
      case "abort":
        this.abort(step.source);
        return;
      case "endScope":
        this.endScope(step.source);
        return;
      case "pause":
        this.pause(this.#pauseMs(step.time));
        return;
      case "resume":
        this.model.resume();
        this.line.resume();
        return;
      case "setRate":
        this.setRate(step.changes);
        return;
      case "close":
        this.model.close();
        this.line.close();
        return;
      case "advance":
        await this.advance(step.time);
    }
  }

  /** A limit for the wait of a call, in milliseconds. */
  #wait(time: Time, costs: Costs): number {
    if ("ms" in time) return time.ms;
    return Math.max(0, this.model.estimate(costs).toNumber() + time.fromNext);
  }

  #pauseMs(time: Time): number {
    const ms = this.moment(time).minus(this.model.now).toNumber();
    return ms < 2 * EXACT_MS ? 0 : ms;
  }

  /** The moment that a time means. */
  moment(time: Time): Rational {
    if ("ms" in time) return this.model.now.plus(Rational.of(time.ms));
    return this.#next().plus(Rational.of(time.fromNext));
  }

  /** The next event of the line; when there is none, the moment when there is one more whole token. */
  #next(): Rational {
    const { model } = this;
    return model.nextEvent() ?? model.meter.nextToken(model.now);
  }

  async #goTo(moment: Rational, farthestMs: number): Promise<void> {
    const ms = moment.minus(this.model.now).toNumber();
    await goTo([this], this.clock, Math.min(Math.max(0, ms), farthestMs));
  }

  /** Tells the model what time it is. */
  syncNow(): void {
    this.model.now = Rational.of(this.clock.now());
  }

  #note(id: number, fate: Fate, error: unknown): void {
    expectSame(`call ${String(id)} settled before`, this.settled.has(id), false);
    this.settled.set(id, { fate, at: this.clock.now(), error });
  }

  #fateOf(id: number, error: unknown): Fate {
    if (error instanceof LimiterClosedError) return "closed";
    if (error instanceof QueueFullError) return "full";
    if (error instanceof InvalidArgumentError) return "invalid";
    if (error instanceof WaitTooLongError) {
      return this.#calls.get(id)?.joined === true ? "expired" : "too long";
    }
    return error as Fate;
  }
}

function expectClosed(call: () => unknown): void {
  try {
    call();
  } catch (error) {
    if (error instanceof LimiterClosedError) return;
    throw error;
  }
  throw new Error("A closed limiter granted a call.");
}

function byNumber(ids: Iterable<number>): number[] {
  return [...ids].sort((a, b) => a - b);
}
