import type { Clock } from "../../src/clock.js";
import type { LineView, Meter } from "../../src/rate-limit/line/meter.js";
import type { ManualClock } from "../../src/testing/index.js";
import type { Shape } from "./rate-limit-exact-bucket.js";
import { least, most, Rational } from "./rate-limit-rational.js";

/** Tokens that the store has set aside, and when, in its own time, the last of them is there. */
interface Reservation {
  readonly tokens: number;
  readonly dueMs: number;
}

interface Reply {
  readonly reservations: readonly Reservation[];
  /** The store's time when it answered. */
  readonly at: number;
  /** Numbers the reservations, so that the store can tell whether others came after them. */
  readonly sequence: number;
}

/** How one request fares: milliseconds there and back; a part that is undefined is lost. */
export interface Travel {
  readonly thereMs: number | undefined;
  readonly backMs: number | undefined;
}

/** A bucket that lives elsewhere. It has its own clock, reserves ahead, and knows nothing of who asks. */
export class FakeStore {
  /** Every token reserved: the real time by which it may be used, and for whom. */
  readonly ledger: { readonly client: object; readonly tokens: number; readonly usableFrom: number }[] = [];
  returned = 0;
  readonly rate: number;
  readonly capacity: number;
  readonly #clock: ManualClock;
  readonly #aheadMs: number;
  readonly #rate: Rational;
  readonly #capacity: Rational;
  #level: Rational;
  #since = Rational.ZERO;
  #sequence = 0;

  /** @param aheadMs - How far its clock is ahead of the clients' clocks. */
  constructor(shape: Shape, clock: ManualClock, aheadMs: number) {
    this.rate = shape.rate;
    this.capacity = shape.capacity;
    this.#clock = clock;
    this.#aheadMs = aheadMs;
    this.#rate = Rational.of(shape.rate).over(Rational.of(1000));
    this.#capacity = Rational.of(shape.capacity);
    this.#level = this.#capacity;
  }

  /** Sets aside tokens for the first cost, and for those of the others that are due within `horizonMs`. */
  reserve(client: object, costs: readonly number[], horizonMs: number): Reply {
    const now = this.#settle();
    const reservations: Reservation[] = [];
    for (const tokens of costs) {
      const level = this.#level.minus(Rational.of(tokens));
      const waitMs = most(Rational.ZERO, Rational.ZERO.minus(level)).over(this.#rate);
      if (reservations.length > 0 && waitMs.toNumber() > horizonMs) break;
      this.#level = level;
      const dueMs = now.plus(waitMs).toNumber() + this.#aheadMs;
      reservations.push({ tokens, dueMs });
      this.#note(client, tokens, now, waitMs);
    }
    this.#sequence += 1;
    return { reservations, at: now.toNumber() + this.#aheadMs, sequence: this.#sequence };
  }

  /** Takes tokens back when nobody has reserved after them; else they are lost. */
  giveBack(tokens: number, sequence: number): void {
    this.#settle();
    if (sequence !== this.#sequence) return;
    this.returned += tokens;
    this.#level = least(this.#capacity, this.#level.plus(Rational.of(tokens)));
  }

  #note(client: object, tokens: number, now: Rational, waitMs: Rational): void {
    const one = Rational.ONE.over(this.#rate);
    for (let token = 1; token <= tokens; token += 1) {
      const before = Rational.of(tokens - token).times(one);
      const usableFrom = most(now, now.plus(waitMs).minus(before)).toNumber();
      this.ledger.push({ client, tokens: 1, usableFrom });
    }
  }

  #settle(): Rational {
    const now = Rational.of(this.#clock.now());
    this.#level = least(this.#capacity, this.#level.plus(now.minus(this.#since).times(this.#rate)));
    this.#since = now;
    return now;
  }
}

interface Held {
  tokens: number;
  /** When the last of them is there, and not before when any of them, on the clock of this process. */
  readonly dueAt: number;
  readonly notBefore: number;
}

const HORIZON_MS = 50;
const MOST_COSTS = 64;

/** The meter of a line whose bucket lives in a store. */
export class RemoteMeter implements Meter<number> {
  /** Requests that were sent and neither answered nor given up. */
  inFlight = 0;
  mostInFlight = 0;
  requests = 0;
  readonly #store: FakeStore;
  readonly #clock: Clock;
  readonly #network: ManualClock;
  readonly #travels: readonly Travel[];
  readonly #timeoutMs: number;
  #line: LineView<number> | undefined = undefined;
  #held: Held[] = [];
  #sequence = 0;
  #waiting = false;
  /** Whether the head that goes now has its tokens. */
  #taken = false;
  /** The request on its way, and when it is given up. */
  #request: { readonly until: number } | undefined = undefined;

  constructor(options: {
    readonly store: FakeStore;
    /** The line's clock, read only. */
    readonly clock: Clock;
    /** What makes answers arrive. */
    readonly network: ManualClock;
    readonly travels: readonly Travel[];
    readonly timeoutMs: number;
  }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#network = options.network;
    this.#travels = options.travels;
    this.#timeoutMs = options.timeoutMs;
  }

  attach(line: LineView<number>): void {
    this.#line = line;
  }

  get heldTokens(): number {
    return this.#held.reduce((sum, { tokens }) => sum + tokens, 0);
  }

  tryTake(cost: number, now: number): boolean {
    const dueAt = this.#dueAt(cost);
    if (dueAt === undefined || dueAt > now) return false;
    this.#use(cost);
    this.#taken = true;
    return true;
  }

  /** Until the head is due; while that is not known, until it is time to give the request up and send another. */
  headWaitMs(head: number, now: number): number {
    const dueAt = this.#dueAt(head);
    if (dueAt !== undefined) return Math.max(0, dueAt - now);
    return this.#ask(now) - now;
  }

  /** Nobody here knows; 0 is a lower bound. */
  estimateMs(): number {
    return 0;
  }

  join(): void {
    // The head asks for those behind it.
  }

  leave(): void {
    // What was reserved for it stays for the next one.
  }

  lead(head: number | undefined, now: number): void {
    this.#waiting = head !== undefined;
    if (head === undefined) {
      this.#giveBack(this.heldTokens, this.#sequence);
      this.#held = [];
    } else if (!this.#taken) this.#forfeit(Math.max(this.#store.capacity, head), now);
    this.#taken = false;
  }

  /** What a head saved up and left is for those behind it, but not as a burst: no more than `most` may be there. */
  #forfeit(most: number, now: number): void {
    // A token of which a part is there counts as well: the bucket would hold that part.
    const soon = now + 1000 / this.#store.rate;
    for (
      let dueAt = this.#dueAt(most + 1);
      dueAt !== undefined && dueAt < soon;
      dueAt = this.#dueAt(most + 1)
    ) {
      this.#use(1);
    }
  }

  /** Sends a request unless one is on its way; when that will be given up. */
  #ask(now: number): number {
    if (this.#request !== undefined && now < this.#request.until) return this.#request.until;
    if (this.#request !== undefined) this.inFlight -= 1;
    const request = { until: now + this.#timeoutMs };
    this.#request = request;
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    // Not at once: whoever calls in the same turn goes with it.
    queueMicrotask(() => {
      this.#send(request);
    });
    return request.until;
  }

  #send(request: object): void {
    const costs = this.#missing();
    const travel = this.#travels[this.requests % this.#travels.length];
    this.requests += 1;
    this.#after(travel?.thereMs, () => {
      const reply = this.#store.reserve(this, costs, HORIZON_MS);
      this.#after(travel?.backMs, () => {
        this.#receive(request, reply);
      });
    });
  }

  #receive(request: object, { reservations, at, sequence }: Reply): void {
    const tokens = reservations.reduce((sum, one) => sum + one.tokens, 0);
    if (request !== this.#request || !this.#waiting) {
      if (request === this.#request) this.#done();
      this.#giveBack(tokens, sequence);
      return;
    }
    this.#done();
    this.#sequence = sequence;
    const now = this.#clock.now();
    // The answer was on its way for an unknown part of the time: counting from its arrival is never early.
    for (const one of reservations) {
      this.#held.push({ tokens: one.tokens, dueAt: now + (one.dueMs - at), notBefore: now });
    }
    this.#line?.wake();
  }

  #done(): void {
    this.#request = undefined;
    this.inFlight -= 1;
  }

  /** What those in line need beyond what is held, the head first. */
  #missing(): number[] {
    let held = this.heldTokens;
    const missing: number[] = [];
    for (const cost of this.#line?.costs() ?? []) {
      const short = cost - held;
      held = Math.max(0, -short);
      if (short > 0) missing.push(short);
      if (missing.length === MOST_COSTS) break;
    }
    return missing;
  }

  /** When the first `tokens` of those held are there; undefined when fewer are held. */
  #dueAt(tokens: number): number | undefined {
    let needed = tokens;
    let dueAt = -Infinity;
    for (const held of this.#held) {
      const used = Math.min(needed, held.tokens);
      const spareMs = ((held.tokens - used) * 1000) / this.#store.rate;
      dueAt = Math.max(dueAt, held.notBefore, held.dueAt - spareMs);
      needed -= used;
      if (needed === 0) return dueAt;
    }
    return undefined;
  }

  #use(tokens: number): void {
    let needed = tokens;
    for (const held of this.#held) {
      const used = Math.min(needed, held.tokens);
      held.tokens -= used;
      needed -= used;
    }
    this.#held = this.#held.filter((held) => held.tokens > 0);
  }

  #giveBack(tokens: number, sequence: number): void {
    if (tokens > 0)
      this.#after(1, () => {
        this.#store.giveBack(tokens, sequence);
      });
  }

  #after(ms: number | undefined, action: () => void): void {
    if (ms !== undefined) this.#network.schedule(ms, action);
  }
}
