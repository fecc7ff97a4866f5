import { type AcquireOptions, RateLimiter } from "../../src/rate-limit/index.js";
import { type BadClock, ExactClock } from "./rate-limit-clocks.js";
import type { Seen } from "./rate-limit-compare.js";
import type { Costs } from "./rate-limit-exact-meter.js";
import { type Correction, LineRig } from "./rate-limit-line-rig.js";
import { type Setting, tokensIn } from "./rate-limit-settings.js";
import type { RateChange } from "./rate-limit-steps.js";

/** A RateLimiter and its model. */
export class Rig extends LineRig {
  readonly #find: () => RateLimiter;

  /** @param find - Says where the limiter is, each time anew. */
  constructor(
    setting: Setting,
    clock: ExactClock | BadClock = new ExactClock(),
    find = foundAlways(makeLimiter(setting, clock)),
  ) {
    super({ dimensions: [setting], maxQueue: setting.maxQueue }, false, clock);
    this.#find = find;
  }

  get limiter(): RateLimiter {
    return this.#find();
  }

  protected override get line(): RateLimiter {
    return this.limiter;
  }

  protected override acquireFrom([n]: Costs, options: AcquireOptions): Promise<void> {
    return this.limiter.acquire(n, options);
  }

  protected override tryAcquireFrom([n]: Costs): boolean {
    return this.limiter.tryAcquire(n);
  }

  protected override estimateFrom([n]: Costs): number {
    return this.limiter.estimateWaitMs(n);
  }

  protected override changeRates([change]: readonly (RateChange | undefined)[]): void {
    if (change !== undefined) this.limiter.setRate(optionsOf(change));
  }

  protected override see(): Seen {
    const stats = this.limiter.stats();
    return { ...stats, buckets: [stats] };
  }

  protected override correct(step: Correction): void {
    if (step.do === "settle" || step.do === "giveBack") throw new Error("A limiter gives no permits.");
    const costs = this.counts(step.tokens);
    const [n = NaN] = costs;
    if (step.do === "refund") {
      this.model.correct(costs);
      this.giveBack(() => {
        this.limiter.refund(n);
      });
    } else {
      this.model.charge(costs);
      this.limiter.charge(n);
    }
  }
}

/** The change as options; what stays is left out. */
export function optionsOf({ rate, burst }: RateChange): {
  maxRowsPerSecond?: number;
  burstWindowSecs?: number;
} {
  return {
    ...(rate !== undefined && { maxRowsPerSecond: rate }),
    ...(burst !== undefined && { burstWindowSecs: burst }),
  };
}

function foundAlways(limiter: RateLimiter): () => RateLimiter {
  return () => limiter;
}

function makeLimiter(setting: Setting, clock: ExactClock | BadClock): RateLimiter {
  return new RateLimiter({
    maxRowsPerSecond: setting.rate,
    burstWindowSecs: setting.burst,
    initialTokens: tokensIn(setting),
    maxQueue: setting.maxQueue,
    clock,
  });
}
