import type { AnyContextKey } from "../context/index.js";

/** The resources that a lifespan has asked for and that have not arrived. */
export class OpeningResources {
  /** What cannot have been waited for by the lifespan itself, so that its failure is that of the start. */
  readonly #required = new Set<Promise<unknown>>();
  /** What a lifespan was handed, by the work that it waits for. */
  readonly #handed = new Map<
    Promise<unknown>,
    { readonly key: string; readonly promise: Promise<unknown> }
  >();

  /**
   * Counts `work` until it settles.
   *
   * @returns What the lifespan waits for: a promise of its own, so that a failure which the lifespan ignores is
   *   reported by the platform although this class looks at `work`.
   */
  follow<T>(key: AnyContextKey, work: Promise<T>): Promise<T> {
    const forget = (): void => {
      this.#handed.delete(work);
    };
    const promise = work.then((value) => value);
    this.#handed.set(work, { key: key.name, promise });
    work.then(forget, forget);
    return promise;
  }

  /** The keys that have not arrived. */
  get keys(): readonly string[] {
    return [...this.#handed.values()].map(({ key }) => key);
  }

  /** The lifespan has yielded: what has not arrived by now is waited for by the start. */
  require(): void {
    for (const work of this.#handed.keys()) this.#required.add(work);
    this.abandon();
  }

  /** Waits until everything has arrived; rejects when something will not. */
  async arrival(): Promise<void> {
    this.require();
    await Promise.all(this.#required);
  }

  /** The lifespan no longer listens: what fails from now on is not the platform's to report. */
  abandon(): void {
    for (const { promise } of this.#handed.values()) promise.catch(() => undefined);
  }
}
