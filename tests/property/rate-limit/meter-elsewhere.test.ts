import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Clock } from "../../../src/clock.js";
import { WaitTooLongError } from "../../../src/rate-limit/errors.js";
import { WaitingLine } from "../../../src/rate-limit/line/waiting-line.js";
import type { ManualClock } from "../../../src/testing/index.js";
import { ExactClock } from "../../support/rate-limit-clocks.js";
import { shapeOf } from "../../support/rate-limit-exact-bucket.js";
import { FakeStore, RemoteMeter, type Travel } from "../../support/rate-limit-remote-meter.js";
import { EXACT_MS } from "../../support/rate-limit-compare.js";
import { Trace } from "../../support/rate-limit-trace.js";

const TIMEOUT_MS = 200;

/** A clock that counts the timers of one line apart from those of the network. */
class LineClock implements Clock {
  pending = 0;
  mostPending = 0;
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  schedule(delayMs: number, callback: () => void): () => void {
    let armed = true;
    const disarm = (): void => {
      if (armed) this.pending -= 1;
      armed = false;
    };
    this.pending += 1;
    this.mostPending = Math.max(this.mostPending, this.pending);
    const cancel = this.#clock.schedule(delayMs, () => {
      disarm();
      callback();
    });
    return () => {
      disarm();
      cancel();
    };
  }
}

interface End {
  readonly at: number;
  readonly error?: unknown;
}

/** One process: a line of its own before the shared store. */
class Client {
  readonly ends: End[] = [];
  readonly sizes: number[] = [];
  readonly order: number[] = [];
  readonly clock: LineClock;
  readonly meter: RemoteMeter;
  readonly line: WaitingLine<number>;
  readonly #network: ManualClock;
  #leavers = new AbortController();

  constructor(store: FakeStore, network: ManualClock, travels: readonly Travel[]) {
    this.#network = network;
    this.clock = new LineClock(network);
    this.meter = new RemoteMeter({ store, clock: this.clock, network, travels, timeoutMs: TIMEOUT_MS });
    this.line = new WaitingLine({ name: "remote", clock: this.clock, maxQueue: Infinity, meter: this.meter });
  }

  call(n: number, leaves: boolean, maxWaitMs?: number): void {
    const id = this.ends.length;
    this.ends.push({ at: NaN });
    this.sizes.push(n);
    this.line.acquire(n, { maxWaitMs, ...(leaves && { signal: this.#leavers.signal }) }, n === 0).then(
      () => {
        this.ends[id] = { at: this.#network.now() };
        this.order.push(id);
      },
      (error: unknown) => (this.ends[id] = { at: this.#network.now(), error }),
    );
  }

  abort(): void {
    this.#leavers.abort("gone");
    this.#leavers = new AbortController();
  }

  /** The times of all tokens granted so far, in order. */
  grantTimes(): number[] {
    return this.order.flatMap((id) =>
      Array.from({ length: this.sizes[id] ?? 0 }, () => this.ends[id]?.at ?? NaN),
    );
  }
}

const travel: fc.Arbitrary<Travel> = fc.record({
  thereMs: fc.option(fc.nat({ max: 60 }), { nil: undefined, freq: 6 }),
  backMs: fc.option(fc.nat({ max: 60 }), { nil: undefined, freq: 6 }),
});

/** The last one gets through, so that asking again and again is enough. */
const travels = fc
  .array(travel, { maxLength: 4 })
  .map((list): Travel[] => [...list, { thereMs: 7, backMs: 12 }]);

/** An answer that comes after the request was given up. */
const slow: fc.Arbitrary<Travel[]> = fc
  .array(fc.record({ thereMs: fc.nat({ max: 150 }), backMs: fc.nat({ max: 150 }) }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((list) => [...list, { thereMs: 7, backMs: 12 }]);

const step = fc.record({
  client: fc.nat({ max: 1 }),
  n: fc.constantFrom(1, 1, 1, 2, 5, 12),
  leaves: fc.boolean(),
  maxWaitMs: fc.option(fc.constantFrom(0, 10, 300, 5000), { nil: undefined, freq: 3 }),
  abort: fc.constantFrom(false, false, false, true),
  gapMs: fc.constantFrom(0, 0, 0, 3, 40, 400),
});

const setting = fc.record({
  shape: fc.tuple(fc.constantFrom(3, 20, 1000), fc.constantFrom(0, 1)).map(([r, s]) => shapeOf(r, s)),
  aheadMs: fc.constantFrom(0, 3_600_000, -250.5),
  travels: fc.oneof(travels, slow),
  steps: fc.array(step, { minLength: 1, maxLength: 25, size: "max" }),
});

type Setting = typeof setting extends fc.Arbitrary<infer S> ? S : never;

async function play(
  { shape, aheadMs, travels, steps }: Setting,
  clients: number,
): Promise<{ store: FakeStore; all: Client[] }> {
  const network = new ExactClock();
  // Times before 0 are fine for a clock, but let the store be behind without them.
  await network.advance(1000);
  const store = new FakeStore(shape, network, aheadMs);
  const all = Array.from({ length: clients }, () => new Client(store, network, travels));
  for (const { client, n, leaves, maxWaitMs, abort, gapMs } of steps) {
    const one = all[client % clients] as Client;
    one.call(n, leaves, maxWaitMs);
    await network.advance(gapMs);
    if (abort) one.abort();
    for (const { line, clock } of all) expect(clock.pending).toBe(line.queued > 0 ? 1 : 0);
  }
  // Enough for every token asked for, at this rate, and for every request that is lost on the way.
  const tokens = steps.reduce((sum, { n }) => sum + n, 0);
  await network.advance((tokens * 3 * 1000) / shape.rate + steps.length * 6 * TIMEOUT_MS);
  return { store, all };
}

const ascending = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);

describe("a line over a bucket that lives elsewhere", () => {
  test("every call ends, in order, with one timer and one request at a time", async () => {
    await fc.assert(
      fc.asyncProperty(setting, fc.integer({ min: 1, max: 2 }), async (given, clients) => {
        const { all } = await play(given, clients);
        for (const { ends, order, clock, line, meter } of all) {
          expect(ends.filter(({ at }) => Number.isNaN(at))).toEqual([]);
          expect(order).toEqual(ascending(order));
          expect(clock.mostPending).toBeLessThanOrEqual(1);
          expect([clock.pending, line.queued, meter.heldTokens]).toEqual([0, 0, 0]);
          expect(meter.mostInFlight).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 120 },
    );
  });

  test("no token is used before the store's exact bucket has it", async () => {
    await fc.assert(
      fc.asyncProperty(setting, fc.integer({ min: 1, max: 2 }), async (given, clients) => {
        const { store, all } = await play(given, clients);
        for (const client of all) {
          const mine = store.ledger.filter((entry) => entry.client === client.meter);
          const usableFrom = ascending(mine.map((entry) => entry.usableFrom));
          for (const [index, at] of client.grantTimes().entries()) {
            expect(at).toBeGreaterThanOrEqual((usableFrom[index] ?? Infinity) - EXACT_MS);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  test("no window holds more than the bucket, what it gained, and what answers were late", async () => {
    await fc.assert(
      fc.asyncProperty(setting, async (given) => {
        const { all } = await play(given, 1);
        const client = all[0] as Client;
        const trace = new Trace(given.shape, 0);
        for (const id of client.order) trace.grant(client.ends[id]?.at ?? NaN, client.sizes[id] ?? NaN);
        trace.checkBound(given.travels.length * TIMEOUT_MS);
      }),
      { numRuns: 100 },
    );
  });

  test("what was reserved for one who leaves goes to the next, without another request", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 5 }),
        async (first, second) => {
          const network = new ExactClock();
          const store = new FakeStore({ rate: 10, capacity: 1 }, network, 0);
          const client = new Client(store, network, [{ thereMs: 5, backMs: 5 }]);
          client.call(first + second, true);
          client.call(first, false);
          await network.advance(20);
          const { requests } = client.meter;
          client.abort();
          await network.advance(10_000);
          expect(client.ends[1]?.error).toBeUndefined();
          // One token is there; this meter counts in whole tokens, so the part of the next one may be lost.
          expect(client.ends[1]?.at).toBeLessThanOrEqual(20 + first * 100 + EXACT_MS);
          expect(client.meter.requests).toBe(requests);
        },
      ),
      { numRuns: 25 },
    );
  });

  test("the head comes first in a request, so that one answer is enough for it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 5, max: 20 }),
        fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 5 }),
        async (first, others) => {
          const network = new ExactClock();
          const store = new FakeStore({ rate: 10, capacity: 1 }, network, 0);
          const client = new Client(store, network, [{ thereMs: 5, backMs: 5 }]);
          for (const n of [first, ...others]) client.call(n, false);
          await network.advance((first - 1) * 100 + 10);
          expect(client.order).toEqual([0]);
          expect(client.meter.requests).toBe(2);
        },
      ),
      { numRuns: 25 },
    );
  });

  test("what nobody here needs any more goes back to the store", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 50 }),
        fc.integer({ min: 0, max: 30 }),
        async (n, abortAfterMs) => {
          const network = new ExactClock();
          const store = new FakeStore({ rate: 10, capacity: 1 }, network, 0);
          const client = new Client(store, network, [{ thereMs: 5, backMs: 5 }]);
          client.call(n, true);
          await network.advance(abortAfterMs);
          client.abort();
          await network.advance(50);
          expect(store.returned).toBe(store.ledger.length);
          client.call(1, false);
          await network.advance(200);
          expect(client.ends[1]?.error).toBeUndefined();
          expect(client.ends[1]?.at).toBeLessThanOrEqual(abortAfterMs + 50 + 10 + EXACT_MS);
        },
      ),
      { numRuns: 25 },
    );
  });

  test("a caller with a deadline goes at its deadline, answer or not", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1000 }), fc.nat({ max: 5 }), async (maxWaitMs, before) => {
        const network = new ExactClock();
        const store = new FakeStore({ rate: 10, capacity: 1 }, network, 0);
        const client = new Client(store, network, [{ thereMs: undefined, backMs: undefined }]);
        for (let count = 0; count < before; count += 1) client.call(1, true);
        client.call(1, false, maxWaitMs);
        await network.advance(5000);
        const end = client.ends[before];
        expect(end?.error).toBeInstanceOf(WaitTooLongError);
        expect(Math.abs((end?.at ?? NaN) - maxWaitMs)).toBeLessThanOrEqual(EXACT_MS);
        // Asked again and again, each time after the deadline of the request.
        if (before > 0) expect(client.meter.requests).toBe(5000 / TIMEOUT_MS + 1);
        client.line.close("end");
        await network.advance(0);
        expect(client.clock.pending).toBe(0);
      }),
      { numRuns: 25 },
    );
  });
});
