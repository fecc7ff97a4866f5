import { setTimeout as sleep } from "node:timers/promises";
import {
  batched,
  ContextKey,
  fn,
  type KeyedRateLimiter,
  type RateBudget,
  type RateLimiter,
  RetryWithSmallerBatch,
  useContext,
} from "../../src/index.js";
import { checkHere, Holder, inBody, Meter, type Place } from "./place.js";
import { PlannedFailure, type Stage } from "./stage.js";

export const RATE = new ContextKey<RateLimiter>("soak/rate");
export const BUDGET = new ContextKey<RateBudget<"calls" | "units">>("soak/budget");
export const KEYED = new ContextKey<KeyedRateLimiter<number>>("soak/keyed");

/** The keys that programs draw from, and the most that one call draws. */
export const KEYS = [0, 1, 2] as const;
export const LARGEST_DRAW = 4;

/** Says that a body is there, and waits until all that are expected are. */
export type Arrive = () => Promise<void>;

/** One call of a function, and how it is to end. */
export interface Call {
  readonly id: number;
  readonly delayMs: number;
  readonly fails: boolean;
  /** What it waits for in its body, instead of a delay. */
  readonly arrive?: Arrive;
}

/** An item of a batch. */
export interface BatchItem {
  readonly id: number;
  readonly delayMs: number;
  /** Its batch is refused until it stands alone, and then it fails. */
  readonly refused: boolean;
  readonly arrive?: Arrive;
}

export const CALLS = ["plain", "one", "three", "rated", "corrected", "budgeted"] as const;
export type CallName = (typeof CALLS)[number];
type Leaf = (place: Place, call: Call) => Promise<number>;

/** Most calls at once of the functions that are bounded. */
export const LIMITS = { one: 1, three: 3, corrected: 4, gated: 2, batch: 2 } as const;
const BATCH_SIZE = 5;

/** The functions of the soak. They are made once, so that a slot that is lost stays lost. */
export class Functions {
  readonly calls: Readonly<Record<CallName, Leaf>>;
  /** Runs a part of a program in a slot of its own. */
  readonly gated: (place: Place, part: (inside: Place) => Promise<void>) => Promise<void>;
  readonly batch: (item: BatchItem) => Promise<number>;
  /** A call that takes one of the slots of a function, and keeps it until all of them are taken. */
  readonly probes: Readonly<Record<keyof typeof LIMITS, (place: Place, arrive: Arrive) => Promise<unknown>>>;
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.calls = {
      plain: fn(this.#leaf("plain")),
      one: fn({ concurrency: LIMITS.one }, this.#leaf("one", LIMITS.one)),
      three: fn({ concurrency: LIMITS.three }, this.#leaf("three", LIMITS.three)),
      rated: fn({ rateLimit: RATE }, this.#leaf("rated")),
      corrected: fn(
        {
          concurrency: LIMITS.corrected,
          rateLimit: {
            key: RATE,
            cost: (_place: Place, { id }: Call) => 1 + (id % 3),
            settle: (_result, _place, { id }) => this.#refund(id),
          },
        },
        this.#leaf("corrected", LIMITS.corrected),
      ),
      budgeted: fn(
        { rateLimit: { key: BUDGET, cost: (_place: Place, { id }: Call) => ({ calls: 1, units: id % 7 }) } },
        this.#leaf("budgeted"),
      ),
    };
    const gates = new Meter(stage, "gated", LIMITS.gated);
    this.gated = fn({ name: "gated", concurrency: LIMITS.gated }, async (place, part) => {
      const holder = new Holder(gates, place.run, place.holder);
      try {
        await inBody(stage, "gated", place, () => part({ ...place, holder }));
      } finally {
        holder.end();
      }
    });
    const batches = new Meter(stage, "batch", LIMITS.batch);
    this.batch = batched(
      { name: "batch", maxBatchSize: BATCH_SIZE, maxWaitMs: 15, concurrency: LIMITS.batch, rateLimit: RATE },
      async (items: BatchItem[]) => {
        batches.enter();
        try {
          return await inBody(stage, "batch", { tag: undefined, run: undefined }, () => answers(items));
        } finally {
          batches.leave();
        }
      },
    );
    const probe =
      (name: CallName) =>
      (place: Place, arrive: Arrive): Promise<unknown> =>
        this.calls[name](place, { id: 0, delayMs: 0, fails: false, arrive });
    this.probes = {
      one: probe("one"),
      three: probe("three"),
      corrected: probe("corrected"),
      gated: (place, arrive) => this.gated(place, arrive),
      batch: (_place, arrive) => {
        const item = { delayMs: 0, refused: false, arrive };
        return Promise.all(Array.from({ length: BATCH_SIZE }, (_, id) => this.batch({ id, ...item })));
      },
    };
  }

  #leaf(name: CallName, limit = Infinity): Leaf {
    const stage = this.#stage;
    const meter = new Meter(stage, name, limit);
    return async (place, { id, delayMs, fails, arrive }) => {
      meter.enter();
      try {
        return await inBody(stage, name, place, async () => {
          await (arrive === undefined ? sleep(delayMs) : arrive());
          if (fails) throw new PlannedFailure(`call ${String(id)}`);
          return id;
        });
      } finally {
        meter.leave();
      }
    };
  }

  /** Every call has needed one token. */
  #refund(id: number): number {
    // The limiter takes it back right after this.
    this.#stage.grants.refunded(useContext(RATE).name, id % 3);
    return 1;
  }
}

async function answers(items: readonly BatchItem[]): Promise<number[]> {
  await sleep(Math.max(...items.map(({ delayMs }) => delayMs)));
  await items[0]?.arrive?.();
  if (items.some(({ refused }) => refused)) {
    throw new RetryWithSmallerBatch("refused", { cause: new PlannedFailure("a refused item") });
  }
  return items.map(({ id }) => -id);
}

/** Calls a batched function, and looks at what comes back. */
export async function callBatch(stage: Stage, place: Place, item: BatchItem): Promise<void> {
  const answer = await stage.functions.batch(item);
  stage.check(
    answer === -item.id,
    () => `item ${String(item.id)} of a batch got the answer ${String(answer)}`,
  );
  checkHere(stage, "the caller of a batch", place.tag);
}
