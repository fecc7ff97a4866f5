import { type AcquireOptions, type Permit, RateBudget } from "../../src/rate-limit/index.js";
import { type BadClock, ExactClock } from "./rate-limit-clocks.js";
import type { Seen } from "./rate-limit-compare.js";
import type { Costs } from "./rate-limit-exact-meter.js";
import { type Correction, LineRig } from "./rate-limit-line-rig.js";
import { optionsOf } from "./rate-limit-rig.js";
import { type LineSetting, tokensIn } from "./rate-limit-settings.js";
import type { RateChange, StepOf } from "./rate-limit-steps.js";

interface Held {
  readonly costs: Costs;
  readonly permit: Permit<string>;
}

/** A RateBudget and its model. Costs are in the order of the dimensions. */
export class BudgetRig extends LineRig {
  readonly budget: RateBudget<string>;
  readonly names: readonly string[];
  /** Permits that are not used up, with what they stand for. */
  readonly held: Held[] = [];

  constructor(setting: LineSetting, clock: ExactClock | BadClock = new ExactClock()) {
    super(setting, true, clock);
    this.names = setting.dimensions.map((_, index) => `dimension ${String(index)}`);
    const options = setting.dimensions.map((one) => ({ ...optionsOf(one), initialTokens: tokensIn(one) }));
    this.budget = new RateBudget(this.#record(options) as Record<string, { maxRowsPerSecond: number }>, {
      maxQueue: setting.maxQueue,
      clock,
    });
  }

  protected override get line(): RateBudget<string> {
    return this.budget;
  }

  protected override acquireFrom(costs: Costs, options: AcquireOptions): Promise<Permit<string>> {
    return this.budget.acquire(this.#named(costs), options);
  }

  protected override tryAcquireFrom(costs: Costs): boolean {
    const permit = this.budget.tryAcquire(this.#named(costs));
    if (permit !== undefined) this.received(costs, permit);
    return permit !== undefined;
  }

  protected override estimateFrom(costs: Costs): number {
    return this.budget.estimateWaitMs(this.#named(costs));
  }

  protected override changeRates(changes: readonly (RateChange | undefined)[]): void {
    this.budget.setRate(this.#record(changes.map((change) => change && optionsOf(change))));
  }

  protected override see(): Seen {
    const stats = this.budget.stats();
    return { ...stats, buckets: Object.values(stats.dimensions) };
  }

  protected override received(costs: Costs, receipt: unknown): void {
    this.held.push({ costs, permit: receipt as Permit<string> });
  }

  protected override correct(step: Correction): void {
    if (step.do === "refund" || step.do === "charge")
      throw new Error("A budget takes corrections by permit.");
    const [held] = this.held.splice(this.held.length === 0 ? 0 : step.which % this.held.length, 1);
    if (held === undefined) return;
    const { costs, permit } = held;
    const actual = step.do === "settle" ? this.#actual(step, costs) : undefined;
    this.model.correct(costs.map((tokens, index) => tokens - needed(tokens, actual, index)));
    this.giveBack(() => {
      if (actual === undefined) permit.refund();
      else permit.settle(this.#record(actual));
    });
  }

  /** What was needed of each dimension; undefined for one that keeps its estimate. */
  #actual({ actual }: StepOf<"settle">, costs: Costs): (number | undefined)[] {
    return costs.map((_, index) => {
      const tokens = actual[index];
      return tokens === undefined ? undefined : this.count(tokens, index);
    });
  }

  /** Some leave out what costs nothing, some say 0. */
  #named(costs: Costs): Record<string, number> {
    const leavesOut = costs.reduce((sum, tokens) => sum + tokens, 0) % 2 === 0;
    return this.#record(costs.map((tokens) => (leavesOut && tokens === 0 ? undefined : tokens)));
  }

  #record<T>(values: readonly (T | undefined)[]): Record<string, T> {
    const entries = this.names.map((name, index) => [name, values[index]] as const);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Record<string, T>;
  }
}

function needed(tokens: number, actual: readonly (number | undefined)[] | undefined, index: number): number {
  return actual === undefined ? 0 : (actual[index] ?? tokens);
}
