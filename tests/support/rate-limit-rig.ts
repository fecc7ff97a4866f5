import { Scope } from "../../src/cancellation/index.js";
import { registry } from "../../src/internal/registry.js";
import {
  InvalidArgumentError,
  LimiterClosedError,
  QueueFullError,
  RateLimiter,
  WaitTooLongError,
} from "../../src/rate-limit/index.js";
import { BadClock, ExactClock, settlePromises } from "./rate-limit-clocks.js";
import { shapeOf } from "./rate-limit-exact-bucket.js";
import { type Fate, LimiterModel } from "./rate-limit-model.js";
import { Rational } from "./rate-limit-rational.js";
import { AT, type Setting, type Step, type Time, type Tokens } from "./rate-limit-steps.js";
import { Trace } from "./rate-limit-trace.js";

/** What "exact" means, in milliseconds: one nanosecond. */
export const EXACT_MS = 1e-6;

/** No step goes further than this at once: the doubles of later times would be too coarse for a nanosecond. */
const FARTHEST_MS = 1e6;

/** How near a step may come to the next event by accident, in milliseconds. */
const TOO_NEAR_MS = 3e-7;

interface Settled {
  readonly fate: Fate;
  readonly at: number;
  readonly error: unknown;
}

interface Call {
  readonly n: number;
  readonly maxWaitMs: number;
  /** Whether it has joined the line, so that a wait that was too long was not known at the start. */
  readonly joined: boolean;
}

let scopeOfCall: Scope | undefined = undefined;

/**
 * A limiter and its model, taken through the same steps and compared after each of them.
 *
 * On exact timers the model says by itself when things happen. On a clock with bad timers nobody can; there the model
 * looks when the limiter does, which is when a timer fires.
 */
export class Rig {
  readonly limiter: RateLimiter;
  readonly model: LimiterModel;
  readonly trace: Trace;
  readonly clock: ExactClock | BadClock;
  readonly settled = new Map<number, Settled>();
  readonly order: number[] = [];
  readonly #calls = new Map<number, Call>();
  readonly #signals = new Map<number, AbortController>();
  readonly #scopes = new Map<number, Scope>();
  #setting: Setting;
  #compared = 0;
  #nextId = 0;

  constructor(setting: Setting, clock: ExactClock | BadClock = new ExactClock()) {
    this.#setting = setting;
    this.clock = clock;
    if (clock instanceof BadClock) {
      clock.onFire = () => {
        this.#syncNow();
        this.model.wake();
      };
    }
    const shape = shapeOf(setting.rate, setting.burst);
    const initialTokens = shape.capacity * setting.filled;
    this.model = new LimiterModel({ ...shape, initialTokens, maxQueue: setting.maxQueue });
    this.model.now = Rational.of(clock.now());
    this.trace = new Trace(shape, clock.now());
    this.limiter = new RateLimiter({
      maxRowsPerSecond: setting.rate,
      burstWindowSecs: setting.burst,
      initialTokens,
      maxQueue: setting.maxQueue,
      clock,
    });
    registry().ambientScope = () => scopeOfCall;
  }

  /** The calls that took tokens, in the order of their grants. A call for none of them waits for nobody. */
  get takers(): number[] {
    return this.order.filter((id) => this.#calls.get(id)?.n !== 0);
  }

  async play(steps: readonly Step[]): Promise<void> {
    this.compare();
    for (const step of steps) {
      await this.#do(step);
      await settlePromises();
      this.compare();
    }
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
    this.#syncNow();
    this.compare();
  }

  /** Starts a call; its number. */
  acquire(
    n: number,
    options: { maxWaitMs?: number; timeLeftMs?: number; signal?: number; scope?: number } = {},
  ): number {
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
    this.model.acquire({ id, n, maxWaitMs: maxWaitMs ?? Infinity, timeLeftMs, follows, over });
    // A source that is over is used once more, to see the refusal, and then replaced.
    if (controller?.signal.aborted === true) this.#signals.delete(signal as number);
    if (around?.ended === true) this.#scopes.delete(scope as number);
    const before = this.limiter.stats().queued;
    scopeOfCall = around;
    const promise = this.limiter.acquire(n, { signal: controller?.signal, maxWaitMs });
    scopeOfCall = undefined;
    this.#calls.set(id, {
      n,
      maxWaitMs: maxWaitMs ?? Infinity,
      joined: this.limiter.stats().queued > before,
    });
    promise.then(
      () => {
        this.#note(id, "granted", undefined);
        this.order.push(id);
        this.trace.grant(this.clock.now(), n);
      },
      (error: unknown) => {
        this.#note(id, this.#fateOf(id, error), error);
      },
    );
    return id;
  }

  tryAcquire(n: number): boolean {
    const taken = this.limiter.tryAcquire(n);
    if (taken) this.trace.grant(this.clock.now(), n);
    expectSame(`tryAcquire(${String(n)})`, taken, this.model.tryAcquire(n));
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

  refund(n: number): void {
    this.model.refund(n);
    const before = this.limiter.stats();
    this.limiter.refund(n);
    const after = this.limiter.stats();
    const taken = after.grantedTokens - before.grantedTokens;
    // What came back is noted before what it paid for, which the promises will note.
    this.trace.refund(this.clock.now(), after.available + taken - before.available);
  }

  pause(ms: number): void {
    this.model.pause(ms);
    this.limiter.pause(ms);
  }

  setRate(change: { rate?: number | undefined; burst?: number | undefined }): void {
    const { rate = this.#setting.rate, burst = this.#setting.burst } = change;
    this.#setting = { ...this.#setting, rate, burst };
    this.trace.reshape(shapeOf(rate, burst), this.clock.now());
    this.model.setRate(shapeOf(rate, burst));
    this.limiter.setRate({
      ...(change.rate !== undefined && { maxRowsPerSecond: change.rate }),
      ...(change.burst !== undefined && { burstWindowSecs: change.burst }),
    });
  }

  /** Moves the time, near to `time` or to it. */
  async advance(time: Time): Promise<void> {
    await this.#goTo(this.#moment(time), FARTHEST_MS);
  }

  /** Compares everything that can be seen. */
  compare(): void {
    expectSame("calls settled", byNumber(this.settled.keys()), byNumber(this.model.outcomes.keys()));
    expectSame("order of grants", this.order, this.model.order);
    for (const [id, settled] of [...this.settled].slice(this.#compared)) this.#compareOutcome(id, settled);
    this.#compared = this.settled.size;
    this.#compareStats();
    expectSame("timers", this.clock.pending, this.model.queued > 0 ? 1 : 0);
    const estimate = this.model.closed ? Infinity : this.model.estimate(3).toNumber();
    expectExact("estimateWaitMs(3)", this.limiter.estimateWaitMs(3), estimate, EXACT_MS);
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

  #compareStats(): void {
    const { model } = this;
    const stats = this.limiter.stats();
    expectSame("capacity", stats.capacity, model.bucket.capacity.toNumber());
    expectSame("queued", stats.queued, model.queued);
    expectSame("queuedTokens", stats.queuedTokens, model.queuedTokens);
    expectSame("granted", stats.granted, model.granted);
    expectSame("grantedTokens", stats.grantedTokens, model.grantedTokens);
    expectSame("aborted", stats.aborted, model.left);
    const level = model.bucket.levelAt(model.now).toNumber();
    expectExact("available", stats.available, level, (this.#setting.rate * EXACT_MS) / 1000);
    const paused = model.bucket.isPaused(model.now) ? model.bucket.pausedUntil : undefined;
    expectExact("pausedForMs", stats.pausedForMs, paused?.minus(model.now).toNumber() ?? 0, EXACT_MS);
    expectExact("waitedMs", stats.waitedMs, model.waitedMs().toNumber(), EXACT_MS * (1 + this.#nextId));
  }

  async #do(step: Step): Promise<void> {
    switch (step.do) {
      case "acquire": {
        const n = this.#count(step.tokens);
        this.acquire(n, {
          ...(step.maxWait !== undefined && { maxWaitMs: this.#wait(step.maxWait, n) }),
          ...(step.signal !== undefined && { signal: step.signal }),
          ...(step.scope !== undefined && { scope: step.scope }),
          ...(step.timeLeft !== undefined && { timeLeftMs: this.#wait(step.timeLeft, n) }),
        });
        return;
      }
      case "tryAcquire":
        if (!this.model.closed) this.tryAcquire(this.#count(step.tokens));
        else expectClosed(() => this.limiter.tryAcquire());
        return;
      case "refund":
        this.refund(this.#count(step.tokens));
        return;
      case "charge":
        this.model.charge(this.#count(step.tokens));
        this.limiter.charge(this.#count(step.tokens));
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
        this.limiter.resume();
        return;
      case "setRate":
        this.setRate(step);
        return;
      case "close":
        this.model.close();
        this.limiter.close();
        return;
      case "advance":
        await this.advance(step.time);
    }
  }

  #count(tokens: Tokens): number {
    if ("count" in tokens) return tokens.count;
    return Math.max(0, Math.floor(this.limiter.stats().capacity) + tokens.overCapacity);
  }

  /** A limit for the wait of a call for `n`, in milliseconds. */
  #wait(time: Time, n: number): number {
    if ("ms" in time) return time.ms;
    return Math.max(0, this.model.estimate(n).toNumber() + time.fromNext);
  }

  #pauseMs(time: Time): number {
    const ms = this.#moment(time).minus(this.model.now).toNumber();
    return ms < 2 * EXACT_MS ? 0 : ms;
  }

  #moment(time: Time): Rational {
    if ("ms" in time) return this.model.now.plus(Rational.of(time.ms));
    return this.#next().plus(Rational.of(time.fromNext));
  }

  /** The next event of the line; when there is none, the moment when there is one more whole token. */
  #next(): Rational {
    const { model } = this;
    const event = model.nextEvent();
    if (event !== undefined) return event;
    return model.bucket.dueAt(Math.floor(model.bucket.levelAt(model.now).toNumber()) + 1, model.now);
  }

  async #goTo(moment: Rational, farthestMs: number): Promise<void> {
    const { model, clock } = this;
    const ms = moment.minus(model.now).toNumber();
    const target = clock.now() + Math.min(Math.max(0, ms), farthestMs);
    const end = clock instanceof ExactClock ? this.#foresee(target) : target;
    await clock.advance(Math.max(0, end - clock.now()));
    this.#syncNow();
  }

  /**
   * Takes the model to `target`, event by event. A target that is an event by accident is moved behind it: which side
   * of it a double falls on is nobody's business.
   *
   * @returns The target.
   */
  #foresee(target: number): number {
    const { model } = this;
    let end = target;
    for (let event = model.nextEvent(); event !== undefined; event = model.nextEvent()) {
      const at = event.toNumber();
      if (at > end + TOO_NEAR_MS) break;
      if (at > end - TOO_NEAR_MS) end = at + AT;
      model.now = event;
      model.wake();
      model.bucket.levelAt(event);
    }
    return end;
  }

  #syncNow(): void {
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

function signalFate(signal: number): Fate {
  return `signal ${String(signal)}` as Fate;
}

function scopeFate(scope: number): Fate {
  return `scope ${String(scope)}` as Fate;
}

/** Compares doubles that were computed in two ways. */
function expectExact(what: string, actual: number, expected: number, tolerance: number): void {
  const error = Math.abs(actual - expected);
  if (actual === expected || error <= tolerance + Math.abs(expected) * 1e-14) return;
  throw new Error(`${what}: ${String(actual)}, but the model has ${String(expected)}`);
}

/** Compares plain values and lists of numbers; called so often that jest's own comparison would take most of the time. */
function expectSame(what: string, actual: unknown, expected: unknown): void {
  if (actual === expected || (Array.isArray(actual) && String(actual) === String(expected))) return;
  throw new Error(`${what}: ${String(actual)}, but the model has ${String(expected)}`);
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
