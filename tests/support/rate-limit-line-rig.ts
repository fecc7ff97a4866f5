import { Scope } from "../../src/cancellation/index.js";
import { registry } from "../../src/internal/registry.js";
import type { BucketStats } from "../../src/rate-limit/bucket/rated-bucket.js";
import {
  type AcquireOptions,
  InvalidArgumentError,
  LimiterClosedError,
  QueueFullError,
  WaitTooLongError,
} from "../../src/rate-limit/index.js";
import type { LineStats } from "../../src/rate-limit/line-limiter.js";
import { BadClock, ExactClock, settlePromises } from "./rate-limit-clocks.js";
import { EXACT_MS, expectExact, expectSame } from "./rate-limit-compare.js";
import { shapeOf } from "./rate-limit-exact-bucket.js";
import type { Costs } from "./rate-limit-exact-meter.js";
import { type Fate, LimiterModel } from "./rate-limit-model.js";
import { Rational } from "./rate-limit-rational.js";
import {
  AT,
  type Rated,
  type RateChange,
  type Step,
  type StepOf,
  type Time,
  type Tokens,
} from "./rate-limit-steps.js";
import { Trace } from "./rate-limit-trace.js";

/** Milliseconds of the rate that a window may hold on top when timers are bad. */
const MADE_UP_MS = 5;

/** No step goes further than this at once: the doubles of later times would be too coarse for a nanosecond. */
export const FARTHEST_MS = 1e6;

/** How near a step may come to the next event by accident, in milliseconds. */
const TOO_NEAR_MS = 3e-7;

interface Settled {
  readonly fate: Fate;
  readonly at: number;
  readonly error: unknown;
}

interface Call {
  readonly costs: Costs;
  readonly maxWaitMs: number;
  /** Whether it has joined the line, so that a wait that was too long was not known at the start. */
  readonly joined: boolean;
}

/** What can be seen of a limiter or a budget. */
export interface Seen extends LineStats {
  readonly buckets: readonly BucketStats[];
}

/** Steps that set right what was taken. */
export type Correction = StepOf<"refund" | "charge" | "settle" | "giveBack">;

export interface LineSetting {
  /** A limiter has one. */
  readonly dimensions: readonly Rated[];
  readonly maxQueue: number;
}

let scopeOfCall: Scope | undefined = undefined;

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
  readonly #signals = new Map<number, AbortController>();
  readonly #scopes = new Map<number, Scope>();
  #rates: readonly Rated[];
  #compared = 0;
  #nextId = 0;

  constructor({ dimensions, maxQueue }: LineSetting, isBudget: boolean, clock: ExactClock | BadClock) {
    this.#rates = dimensions;
    this.clock = clock;
    if (clock instanceof BadClock) {
      clock.onFire = () => {
        this.syncNow();
        this.model.wake();
      };
    }
    const buckets = dimensions.map((one) => ({
      ...shapeOf(one.rate, one.burst),
      initialTokens: tokensIn(one),
    }));
    this.model = new LimiterModel({ buckets, isBudget, maxQueue });
    this.model.now = Rational.of(clock.now());
    this.traces = buckets.map((bucket) => new Trace(bucket, clock.now()));
    registry().ambientScope = () => scopeOfCall;
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
    options: { maxWaitMs?: number; timeLeftMs?: number; signal?: number; scope?: number } = {},
  ): number {
    const costs = this.costs(tokens);
    const { maxWaitMs, timeLeftMs = Infinity, signal } = options;
    // A scope with a time limit stands alone: what the end of a scope around it does is a test of its own.
    const scope = timeLeftMs === Infinity ? options.scope : undefined;
    const id = this.#nextId++;
    const controller = signal === undefined ? undefined : this.#signalOf(signal);
    const around = timeLeftMs === Infinity ? this.#scopeOf(scope) : this.#limited(timeLeftMs);
    const follows: Fate[] = [];
    const over: Fate[] = [];
    if (signal !== undefined) (controller?.signal.aborted === true ? over : follows).push(signalFate(signal));
    if (scope !== undefined) (around?.ended === true ? over : follows).push(scopeFate(scope));
    this.model.acquire({ id, costs, maxWaitMs: maxWaitMs ?? Infinity, timeLeftMs, follows, over });
    // A source that is over is used once more, to see the refusal, and then replaced.
    if (controller?.signal.aborted === true) this.#signals.delete(signal as number);
    if (around?.ended === true) this.#scopes.delete(scope as number);
    const before = this.see().queued;
    scopeOfCall = around;
    const promise = this.acquireFrom(costs, { signal: controller?.signal, maxWaitMs });
    scopeOfCall = undefined;
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
    this.#signalOf(signal).abort(signalFate(signal));
  }

  endScope(scope: number): void {
    this.model.end(scopeFate(scope));
    this.#scopeOf(scope)?.release(scopeFate(scope));
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
    this.#compareState(seen);
    this.compareCounts(seen);
    this.#compareEstimate(this.costs(3));
    if (this.traces.length > 1) this.#compareEstimate(this.traces.map((_, index) => (index === 0 ? 0 : 3)));
  }

  /** Compares what has become of the calls. */
  compareOutcomes(): void {
    expectSame("calls settled", byNumber(this.settled.keys()), byNumber(this.model.outcomes.keys()));
    expectSame("order of grants", this.order, this.model.order);
    for (const [id, settled] of [...this.settled].slice(this.#compared)) this.#compareOutcome(id, settled);
    this.#compared = this.settled.size;
  }

  protected compareCounts(seen: Seen): void {
    const { model } = this;
    expectSame("granted", seen.granted, model.granted);
    expectSame(
      "grantedTokens",
      seen.buckets.map((bucket) => bucket.grantedTokens),
      model.grantedTokens,
    );
    expectSame("aborted", seen.aborted, model.left);
    expectExact("waitedMs", seen.waitedMs, model.waitedMs().toNumber(), EXACT_MS * (1 + this.#nextId));
    expectSame("timers", this.clock.pending, model.queued > 0 ? 1 : 0);
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
    const { model } = this;
    const estimate = this.estimateFrom(costs);
    const what = `estimateWaitMs(${String(costs)})`;
    expectExact(what, estimate, model.closed ? Infinity : model.estimate(costs).toNumber(), EXACT_MS);
    if (model.closed || this.traces.length === 1) return;
    const exact = model.exactWait(costs).toNumber();
    if (estimate > exact + EXACT_MS)
      throw new Error(`${what}: ${String(estimate)}, but it is ${String(exact)}`);
  }

  #compareOutcome(id: number, { fate, at, error }: Settled): void {
    const outcome = this.model.outcomes.get(id);
    const call = `call ${String(id)}`;
    expectSame(`fate of ${call}`, fate, outcome?.fate);
    expectExact(`time of ${call}`, at, outcome?.at.toNumber() ?? NaN, EXACT_MS);
    if (!(error instanceof WaitTooLongError)) return;
    const { estimatedWaitMs, maxWaitMs } = error;
    if (fate === "too long") {
      expectExact(`estimate for ${call}`, estimatedWaitMs, outcome?.estimateMs?.toNumber() ?? NaN, EXACT_MS);
    } else {
      expectSame(`limit of ${call}`, maxWaitMs, this.#calls.get(id)?.maxWaitMs);
      expectSame(`estimate above the limit of ${call}`, estimatedWaitMs >= maxWaitMs, true);
    }
  }

  #compareState({ buckets, queued, pausedForMs }: Seen): void {
    const { model } = this;
    const levels = model.meter.levelsAt(model.now);
    for (const [index, { available, capacity }] of buckets.entries()) {
      expectSame("capacity", capacity, model.meter.buckets[index]?.capacity.toNumber());
      const tolerance = ((this.#rates[index]?.rate ?? NaN) * EXACT_MS) / 1000;
      expectExact(`available of ${String(index)}`, available, levels[index]?.toNumber() ?? NaN, tolerance);
    }
    expectSame("queued", queued, model.queued);
    expectSame(
      "queuedTokens",
      buckets.map(({ queuedTokens }) => queuedTokens),
      model.queuedTokens,
    );
    const paused = model.meter.pauseEnd(model.now)?.minus(model.now).toNumber() ?? 0;
    expectExact("pausedForMs", pausedForMs, paused, EXACT_MS);
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

  #signalOf(signal: number): AbortController {
    const known = this.#signals.get(signal) ?? new AbortController();
    this.#signals.set(signal, known);
    return known;
  }

  #scopeOf(scope: number | undefined): Scope | undefined {
    if (scope === undefined) return undefined;
    const known = this.#scopes.get(scope) ?? new Scope();
    this.#scopes.set(scope, known);
    return known;
  }

  #limited(timeLeftMs: number): Scope {
    return new Scope(undefined, { clock: this.clock, at: this.clock.now() + timeLeftMs });
  }
}

/** Moves the time on by `ms` or a little more, for all who share the clock. */
export async function goTo(
  rigs: readonly LineRig[],
  clock: ExactClock | BadClock,
  ms: number,
): Promise<void> {
  let end = clock.now() + ms;
  if (clock instanceof ExactClock) {
    // What moves the target for one may bring it to an event of another.
    for (let before = NaN; end !== before;) {
      before = end;
      end = rigs.reduce((target, { model }) => foresee(model, target), end);
    }
  }
  await clock.advance(Math.max(0, end - clock.now()));
  for (const rig of rigs) rig.syncNow();
}

/**
 * Takes the model to `target`, event by event. A target that is an event by accident is moved behind it: which side
 * of it a double falls on is nobody's business.
 *
 * @returns The target.
 */
function foresee(model: LimiterModel, target: number): number {
  let end = target;
  for (let event = model.nextEvent(); event !== undefined; event = model.nextEvent()) {
    const at = event.toNumber();
    if (at > end + TOO_NEAR_MS) break;
    if (at > end - TOO_NEAR_MS) end = at + AT;
    model.now = event;
    model.wake();
    model.meter.levelsAt(event);
  }
  return end;
}

/** Tokens in a bucket at the start. */
export function tokensIn({ rate, burst, filled }: Rated): number {
  return shapeOf(rate, burst).capacity * filled;
}

function signalFate(signal: number): Fate {
  return `signal ${String(signal)}` as Fate;
}

function scopeFate(scope: number): Fate {
  return `scope ${String(scope)}` as Fate;
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
