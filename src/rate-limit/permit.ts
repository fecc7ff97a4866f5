import type { Costs } from "./bucket/budget-meter.js";
import type { Dimensions } from "./dimensions.js";
import { PermitUsedError } from "./errors.js";

/** Tokens of a budget that a caller has taken. Left alone, the estimate stands. It is used up once. */
export interface Permit<D extends string> {
  /** What was taken, in tokens of each dimension. */
  readonly costs: Readonly<Record<D, number>>;
  /**
   * Says what was needed in fact: an over-estimate is given back, up to the capacity; an under-estimate is charged, so
   * that later callers wait for it. A dimension that is not named keeps its estimate.
   *
   * @param actual - Tokens, integers from 0 up.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) for an unknown dimension or tokens that cannot be; the permit is
   *   then not used up.
   * @throws PermitUsedError (`PERMIT_USED`) when it was settled or refunded before.
   */
  settle(actual: Partial<Record<D, number | undefined>>): void;
  /**
   * Gives everything back, up to the capacity.
   *
   * @throws PermitUsedError (`PERMIT_USED`) when it was settled or refunded before.
   */
  refund(): void;
}

/** Sets right what was taken: gives back what is above `needed`, and takes what is below it. */
type Correct<D extends string> = (taken: Costs<D>, needed: Costs<D>) => unknown;

export class BudgetPermit<D extends string> implements Permit<D> {
  readonly costs: Costs<D>;
  readonly #budget: string;
  readonly #dimensions: Dimensions<D>;
  readonly #correct: Correct<D>;
  #used = false;

  /** @param budget - Its name. */
  constructor(budget: string, dimensions: Dimensions<D>, costs: Costs<D>, correct: Correct<D>) {
    this.#budget = budget;
    this.#dimensions = dimensions;
    this.costs = costs;
    this.#correct = correct;
  }

  settle(actual: Partial<Record<D, number | undefined>>): unknown {
    return this.#useFor(this.#dimensions.complete("actual", actual, this.costs));
  }

  refund(): unknown {
    return this.#useFor(this.#dimensions.nothing);
  }

  #useFor(needed: Costs<D>): unknown {
    if (this.#used) throw new PermitUsedError(this.#budget);
    this.#used = true;
    return this.#correct(this.costs, needed);
  }
}
