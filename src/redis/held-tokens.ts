/** Tokens that the store has set aside for this process in one place. */
interface Held {
  tokens: number;
  /** When the last of them is there, and not before when any of them, on the clock of this process. */
  dueAt: number;
  readonly notBefore: number;
  /** The place behind the last of them, and the request that they were reserved by. */
  readonly place: number;
  readonly request: object;
}

/** What can go back to the store: the tokens of the last request, which are next to each other. */
export interface Remainder {
  readonly place: number;
  readonly tokens: number;
}

/**
 * Tokens reserved in the store and not used yet, in the order of their places. They belong to nobody: whoever heads the
 * line takes from the front.
 */
export class HeldTokens {
  total = 0;
  #held: Held[] = [];

  add(held: Held): void {
    this.#held.push(held);
    this.total += held.tokens;
  }

  /** When the first `tokens` are there, at `rate` tokens a second; undefined when fewer are held. */
  dueAt(tokens: number, rate: number): number | undefined {
    let needed = tokens;
    let dueAt = -Infinity;
    for (const held of this.#held) {
      const used = Math.min(needed, held.tokens);
      // Those of one place are there one after the other.
      const spareMs = ((held.tokens - used) * 1000) / rate;
      dueAt = Math.max(dueAt, held.notBefore, held.dueAt - spareMs);
      needed -= used;
      if (needed === 0) return dueAt;
    }
    return undefined;
  }

  /** When the last of all is there; -Infinity when none is held. */
  get lastDueAt(): number {
    return this.#held.reduce((latest, { dueAt }) => Math.max(latest, dueAt), -Infinity);
  }

  get places(): number[] {
    return this.#held.map(({ place }) => place);
  }

  /** Takes the first `tokens` away. */
  use(tokens: number): void {
    let needed = tokens;
    for (const held of this.#held) {
      const used = Math.min(needed, held.tokens);
      held.tokens -= used;
      needed -= used;
    }
    this.total -= tokens - needed;
    this.#held = this.#held.filter((held) => held.tokens > 0);
  }

  /** Sets when each place is due, those that `dueAt` knows. */
  reschedule(dueAt: ReadonlyMap<number, number>): void {
    for (const held of this.#held) held.dueAt = dueAt.get(held.place) ?? held.dueAt;
  }

  /** Forgets all. @returns What of it can go back. */
  clear(): Remainder | undefined {
    const last = this.#held.at(-1);
    const tokens = this.#held.reduce(
      (sum, held) => (held.request === last?.request ? sum + held.tokens : sum),
      0,
    );
    this.#held = [];
    this.total = 0;
    return last && { place: last.place, tokens };
  }
}
