/** The results of a stream that nobody has taken yet, in the order in which they are to be given. */
export class ResultBuffer<R> {
  readonly #isOrdered: boolean;
  readonly #results = new Map<number, R>();
  #started = 0;
  #ended = 0;
  #taken = 0;

  /** @param isOrdered - Whether they are given in the order of `reserve`; else in that of `put`. */
  constructor(isOrdered: boolean) {
    this.#isOrdered = isOrdered;
  }

  get size(): number {
    return this.#results.size;
  }

  /** Whether the result whose turn it is is there. */
  get isReady(): boolean {
    return this.#results.has(this.#taken);
  }

  reserve(): number {
    return this.#started++;
  }

  put(place: number, result: R): void {
    this.#results.set(this.#isOrdered ? place : this.#ended++, result);
  }

  /** Only while `isReady`. */
  take(): R {
    const result = this.#results.get(this.#taken) as R;
    this.#results.delete(this.#taken++);
    return result;
  }

  clear(): void {
    this.#results.clear();
  }
}
