import fc from "fast-check";
import { KeyedRateLimiter, LimiterClosedError, type RateLimiter } from "../../src/rate-limit/index.js";
import { ExactClock, settlePromises } from "./rate-limit-clocks.js";
import { expectSame } from "./rate-limit-compare.js";
import { Rig } from "./rate-limit-rig.js";
import type { Setting } from "./rate-limit-settings.js";
import { AT, plan, type Step, type Time, type Weights } from "./rate-limit-steps.js";
import { FARTHEST_MS, goTo } from "./rate-limit-timeline.js";

const KEYS = 4;

/** What happens to one key, or to the limiter as a whole. To set back is to give all keys the rate they began with. */
export type KeyedStep =
  | { readonly key: number; readonly keeps: boolean; readonly step: Step }
  | { readonly all: "size" | "setBack" | "close" };

export function keyedPlan(weights: Weights): fc.Arbitrary<KeyedStep[]> {
  const step = plan(weights, 1).filter((steps) => steps.length === 1);
  const ofKey = fc
    .tuple(fc.nat({ max: KEYS - 1 }), fc.boolean(), step)
    .map(([key, keeps, [first]]) => ({ key, keeps, step: first as Step }));
  const ofAll = (all: "size" | "setBack" | "close"): fc.Arbitrary<KeyedStep> => fc.constant({ all });
  return fc.array(
    fc.oneof(
      { weight: 90, arbitrary: ofKey },
      { weight: 9, arbitrary: ofAll("size") },
      { weight: 3, arbitrary: ofAll("setBack") },
      { weight: 1, arbitrary: ofAll("close") },
    ),
    { maxLength: 60, size: "max" },
  );
}

/** The limiter of one key. Its counts of the past start anew when the key is dropped, so they are not compared. */
class KeyRig extends Rig {
  protected override compareCounts(): void {
    // The timers of all keys are counted together.
  }
}

/**
 * A KeyedRateLimiter, with one model for each key that is never dropped: if dropping a key changed anything, the two
 * would differ. Limiters that a caller has kept are used in turn with those that are asked for anew.
 */
export class KeyedRig {
  /** How often a key that was asked for had been dropped. */
  dropped = 0;
  readonly #setting: Setting;
  readonly #clock = new ExactClock();
  readonly #keyed: KeyedRateLimiter<number>;
  readonly #kept: readonly RateLimiter[][] = Array.from({ length: KEYS }, () => []);
  readonly #rigs: readonly KeyRig[];
  /** What the keyed limiter last had for each key. */
  readonly #last: RateLimiter[] = [];
  #turn = 0;

  constructor(setting: Setting) {
    this.#setting = setting;
    this.#keyed = new KeyedRateLimiter<number>({
      maxRowsPerSecond: setting.rate,
      burstWindowSecs: setting.burst,
      maxQueue: setting.maxQueue,
      clock: this.#clock,
    });
    const full = { ...setting, filled: 1 };
    this.#rigs = this.#kept.map((_, key) => new KeyRig(full, this.#clock, () => this.#find(key)));
  }

  /** Takes the steps, up to a close of all. */
  async play(steps: readonly KeyedStep[]): Promise<void> {
    for (const step of steps) {
      if ("all" in step) {
        if (step.all === "close") return this.#close();
        if (step.all === "size") expectSame("size is possible", this.#keyed.size <= KEYS, true);
        else await this.#setBack();
      } else {
        if (step.keeps) this.#kept[step.key]?.push(this.#ask(step.key));
        await this.#doTo(this.#rigs[step.key] as KeyRig, step.step);
      }
    }
    await this.#finish();
  }

  /** Goes on until nobody waits. */
  async #finish(): Promise<void> {
    for (const rig of this.#rigs) {
      while (rig.model.queued > 0) await this.#advance(rig, { fromNext: AT }, Infinity);
    }
    this.#compare();
  }

  async #doTo(rig: KeyRig, step: Step): Promise<void> {
    if (step.do !== "advance") await rig.play([step]);
    else await this.#advance(rig, step.time, FARTHEST_MS);
  }

  /** A key whose rate was changed can go again. */
  async #setBack(): Promise<void> {
    for (const rig of this.#rigs) await rig.play([{ do: "setRate", changes: [this.#setting] }]);
  }

  /** All who wait are rejected, and all who come. A closed limiter has no level that anybody could tell. */
  async #close(): Promise<void> {
    this.#keyed.close();
    await settlePromises();
    for (const [key, rig] of this.#rigs.entries()) {
      rig.model.close();
      rig.compareOutcomes();
      const refused = await this.#find(key)
        .acquire()
        .catch((error: unknown) => error);
      expectSame("a call after the close", refused instanceof LimiterClosedError, true);
    }
    expectSame("timers after the close", this.#clock.pending, 0);
  }

  async #advance(rig: KeyRig, time: Time, farthestMs: number): Promise<void> {
    const ms = rig.moment(time).minus(rig.model.now).toNumber();
    await goTo(this.#rigs, this.#clock, Math.min(Math.max(0, ms), farthestMs));
    this.#compare();
  }

  #compare(): void {
    for (const rig of this.#rigs) rig.compare();
    const waiting = this.#rigs.filter(({ model }) => model.queued > 0).length;
    expectSame("timers of all keys", this.#clock.pending, waiting);
  }

  #find(key: number): RateLimiter {
    const kept = this.#kept[key] ?? [];
    this.#turn += 1;
    return kept[this.#turn % (kept.length + 1)] ?? this.#ask(key);
  }

  #ask(key: number): RateLimiter {
    const limiter = this.#keyed.for(key);
    if (limiter !== (this.#last[key] ?? limiter)) this.dropped += 1;
    this.#last[key] = limiter;
    return limiter;
  }
}
