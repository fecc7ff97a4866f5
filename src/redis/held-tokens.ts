import type { Amounts, Reservation } from "./store.js";

/** A reservation of this process, and what of it is not used yet; times are on the clock of this process. */
interface Held {
  readonly id: number;
  rest: Amounts;
  startsAt: number;
  readyAt: Amounts;
  /** Tokens a second when these times were told: another rate does not move what is set aside. */
  rates: Amounts;
}

/**
 * Tokens reserved in the store and not used yet, in the order of the reservations. They belong to nobody: whoever heads
 * the line takes from the front.
 */
export class HeldTokens {
  #held: Held[] = [];

  /** @param now - When the answer came that tells of the reservation, and of the rates. */
  add(reservation: Reservation, amounts: Amounts, rates: Amounts, now: number): void {
    this.#held.push({ id: reservation.id, rest: amounts, rates, ...timesOf(reservation, now) });
  }

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  /** Tokens of dimension `d`. */
  total(d: number): number {
    return this.#held.reduce((sum, { rest }) => sum + (rest[d] ?? 0), 0);
  }

  /** When the first `amounts` are there; undefined when fewer are held. */
  dueAt(amounts: Amounts): number | undefined {
    if (amounts.some((tokens, d) => tokens > this.total(d))) return undefined;
    let dueAt = -Infinity;
    for (const { held, first } of this.#split(amounts)) {
      for (const [d, used] of first.entries()) {
        if (used === 0) continue;
        // Those of one reservation are there one after the other.
        const spareMs = (((held.rest[d] ?? NaN) - used) * 1000) / (held.rates[d] ?? NaN);
        dueAt = Math.max(dueAt, held.startsAt, (held.readyAt[d] ?? NaN) - spareMs);
      }
    }
    return dueAt;
  }

  /** Whether so many tokens of dimension `d` alone are there at `now`. */
  isThere(d: number, tokens: number, now: number): boolean {
    const amounts = Array.from({ length: d + 1 }, (_, index) => (index === d ? tokens : 0));
    return (this.dueAt(amounts) ?? Infinity) <= now;
  }

  /** When the last of all is there; -Infinity when none is held. */
  get lastDueAt(): number {
    return this.#held.reduce(
      (latest, { startsAt, readyAt }) => Math.max(latest, startsAt, ...readyAt),
      -Infinity,
    );
  }

  get ids(): number[] {
    return this.#held.map(({ id }) => id);
  }

  /** Takes the first `amounts` away. */
  use(amounts: Amounts): void {
    for (const { held, first } of this.#split(amounts)) held.rest = difference(held.rest, first);
    this.#dropEmpty();
  }

  /** Notes anew when the tokens are there of the reservations that the store still knows. */
  reschedule(reservations: readonly Reservation[], rates: Amounts, now: number): void {
    for (const held of this.#held) {
      const known = reservations.find(({ id }) => id === held.id);
      if (known !== undefined) Object.assign(held, timesOf(known, now), { rates });
    }
  }

  /** Forgets all but the first `amounts`. @returns What is to go back: of each reservation its number, and tokens. */
  keep(amounts: Amounts): number[] {
    const left: number[] = [];
    for (const { held, first } of this.#split(amounts)) {
      const surplus = difference(held.rest, first);
      held.rest = first;
      // Those that stay are the first of it.
      held.readyAt = held.readyAt.map((at, d) => at - ((surplus[d] ?? NaN) * 1000) / (held.rates[d] ?? NaN));
      if (surplus.some((tokens) => tokens > 0)) left.push(held.id, ...surplus);
    }
    this.#dropEmpty();
    return left;
  }

  /** Forgets all. */
  clear(): void {
    this.#held = [];
  }

  /** How much of each reservation the first `amounts` are. */
  #split(amounts: Amounts): { readonly held: Held; readonly first: Amounts }[] {
    let needed = amounts;
    return this.#held.map((held) => {
      const first = held.rest.map((tokens, d) => Math.min(needed[d] ?? 0, tokens));
      needed = difference(needed, first);
      return { held, first };
    });
  }

  #dropEmpty(): void {
    this.#held = this.#held.filter(({ rest }) => rest.some((tokens) => tokens > 0));
  }
}

function difference(amounts: Amounts, less: Amounts): Amounts {
  return amounts.map((tokens, d) => tokens - (less[d] ?? 0));
}

function timesOf({ startMs, readyMs }: Reservation, now: number): Pick<Held, "startsAt" | "readyAt"> {
  // Of what the store has had long since, the time counts from the answer too.
  return { startsAt: now + Math.max(0, startMs), readyAt: readyMs.map((ms) => now + ms) };
}
