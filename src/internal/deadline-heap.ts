/** Entries by time, the earliest first: a binary heap. Those that are over already are dropped lazily. */
export class DeadlineHeap<T> {
  readonly #at: number[] = [];
  readonly #entries: T[] = [];
  readonly #isOver: (entry: T) => boolean;
  /** Entries known to be over, at most. */
  #over = 0;

  /** @param isOver - Whether an entry no longer counts. */
  constructor(isOver: (entry: T) => boolean) {
    this.#isOver = isOver;
  }

  add(at: number, entry: T): void {
    this.#at.push(at);
    this.#entries.push(entry);
    this.#rise(this.#at.length - 1);
  }

  /** The time of the earliest entry that counts; Infinity when there is none. */
  earliest(): number {
    this.#dropFront();
    return this.#at[0] ?? Infinity;
  }

  /** Takes the earliest entry out when its time is before `limit`, or at it. */
  takeDue(limit: number): T | undefined {
    if (this.earliest() > limit) return undefined;
    const entry = this.#entries[0];
    this.#removeFront();
    return entry;
  }

  /** Says that one more entry is over; once most of them are, all of those are dropped. */
  noteOver(): void {
    this.#over += 1;
    if (this.#over < 64 || this.#over * 2 < this.#entries.length) return;
    const kept = this.#entries.flatMap((entry, index) =>
      this.#isOver(entry) ? [] : [{ at: this.#at[index] as number, entry }],
    );
    this.#at.length = 0;
    this.#entries.length = 0;
    this.#over = 0;
    for (const { at, entry } of kept) this.add(at, entry);
  }

  #dropFront(): void {
    while (this.#entries.length > 0 && this.#isOver(this.#entries[0] as T)) this.#removeFront();
  }

  #removeFront(): void {
    const at = this.#at.pop() as number;
    const entry = this.#entries.pop() as T;
    if (this.#at.length === 0) return;
    this.#at[0] = at;
    this.#entries[0] = entry;
    this.#sink();
  }

  #rise(index: number): void {
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if ((this.#at[parent] as number) <= (this.#at[index] as number)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #sink(): void {
    for (let index = 0; ;) {
      const left = index * 2 + 1;
      if (left >= this.#at.length) return;
      const right = left + 1;
      const least =
        right < this.#at.length && (this.#at[right] as number) < (this.#at[left] as number) ? right : left;
      if ((this.#at[index] as number) <= (this.#at[least] as number)) return;
      this.#swap(index, least);
      index = least;
    }
  }

  #swap(a: number, b: number): void {
    [this.#at[a], this.#at[b]] = [this.#at[b] as number, this.#at[a] as number];
    [this.#entries[a], this.#entries[b]] = [this.#entries[b] as T, this.#entries[a] as T];
  }
}
