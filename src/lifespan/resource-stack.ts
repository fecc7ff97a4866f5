/** Something to close, and what to call it in a message. */
export interface Closer {
  readonly what: string;
  /** May return a promise. */
  close(): unknown;
}

/** What an environment owns, in the order in which it was opened. */
export class ResourceStack {
  readonly #closers: Closer[] = [];

  push(closer: Closer): void {
    this.#closers.push(closer);
  }

  /** Takes a closer back. Does nothing when it is not there. */
  remove(closer: Closer): void {
    const at = this.#closers.lastIndexOf(closer);
    if (at >= 0) this.#closers.splice(at, 1);
  }

  /**
   * Closes everything, last first, one after the other, whatever fails; also what is pushed meanwhile.
   *
   * @param emptied - Called in the moment in which nothing is left: what comes after it is too late to be closed here.
   * @returns The errors, in the order in which they happened.
   */
  async close(attempt: (closer: Closer) => unknown, emptied = (): void => undefined): Promise<unknown[]> {
    const errors: unknown[] = [];
    for (let closer = this.#closers.pop(); closer !== undefined; closer = this.#closers.pop()) {
      try {
        await attempt(closer);
      } catch (error) {
        errors.push(error);
      }
    }
    emptied();
    return errors;
  }
}
