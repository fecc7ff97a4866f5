/** A permit of a budget of any kind. */
interface Settled<D extends string> {
  readonly costs: Readonly<Record<D, number>>;
  settle(actual: Partial<Record<D, number | undefined>>): unknown;
  refund(): unknown;
}

/**
 * Tokens of a shared budget that a caller has taken. Left alone, the estimate stands. It is used up once. Whoever does not
 * await what it returns is not disturbed when the store is out of reach: the estimate stands then.
 */
export class SharedPermit<D extends string> {
  readonly #permit: Settled<D>;

  /** @internal */
  constructor(permit: Settled<D>) {
    this.#permit = permit;
  }

  /** What was taken, in tokens of each dimension. */
  get costs(): Readonly<Record<D, number>> {
    return this.#permit.costs;
  }

  /**
   * Says what was needed in fact: an over-estimate is given back, up to the capacity; an under-estimate is charged, so
   * that later callers wait for it. A dimension that is not named keeps its estimate.
   *
   * @param actual - Tokens, integers from 0 up.
   * @throws InvalidArgumentError (`ARGUMENT_INVALID`) for an unknown dimension or tokens that cannot be; the permit is
   *   then not used up.
   * @throws PermitUsedError (`PERMIT_USED`) when it was settled or refunded before.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach: it may have come to it or not.
   */
  settle(actual: Partial<Record<D, number | undefined>>): Promise<void> {
    return handled(this.#permit.settle(actual));
  }

  /**
   * Gives everything back, up to the capacity.
   *
   * @throws PermitUsedError (`PERMIT_USED`) when it was settled or refunded before.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when the store is out of reach: it may have come to it or not.
   */
  refund(): Promise<void> {
    return handled(this.#permit.refund());
  }
}

function handled(settled: unknown): Promise<void> {
  const done = Promise.resolve(settled).then(() => undefined);
  done.catch(() => undefined);
  return done;
}
