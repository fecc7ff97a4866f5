import { GENERATION, TAG } from "./generation.js";
import { useContext } from "../../src/index.js";
import type { Stage } from "./stage.js";

/** Counts who is in something that only so many may be in at once. */
export class Meter {
  readonly #what: string;
  readonly #limit: number;
  readonly #stage: Stage;
  #inside = 0;

  constructor(stage: Stage, what: string, limit: number) {
    this.#stage = stage;
    this.#what = what;
    this.#limit = limit;
  }

  enter(): void {
    this.#inside += 1;
    this.#stage.check(this.#inside <= this.#limit, () => {
      return `${this.#what}: ${String(this.#inside)} at once, ${String(this.#limit)} are allowed`;
    });
  }

  leave(): void {
    this.#inside -= 1;
  }
}

/** One run, as its program sees it. */
export interface RunWatch {
  /** Who holds one of its slots. */
  readonly slots: Meter;
  readonly signal: AbortSignal;
  /** Bodies in progress, those that nobody awaits any more included. */
  bodies: number;
}

/** Work that holds a slot of a meter, except while it waits for work of its own. */
export class Holder {
  readonly #meter: Meter;
  readonly #run: RunWatch;
  readonly #outer: Holder | undefined;
  #waits = 0;
  #isIn = true;
  #isOver = false;

  constructor(meter: Meter, run: RunWatch, outer?: Holder) {
    this.#meter = meter;
    this.#run = run;
    this.#outer = outer;
    meter.enter();
  }

  beginWait(): void {
    this.#outer?.beginWait();
    this.#waits += 1;
    this.#leave();
  }

  endWait(): void {
    this.#outer?.endWait();
    this.#waits -= 1;
    // In a run that is aborted nobody waits to get a slot back, nor does what a time limit has left behind.
    if (this.#waits > 0 || this.#isOver || this.#run.signal.aborted) return;
    this.#isIn = true;
    this.#meter.enter();
  }

  end(): void {
    this.#isOver = true;
    this.#leave();
  }

  #leave(): void {
    if (this.#isIn) this.#meter.leave();
    this.#isIn = false;
  }
}

/** Where in a program something is done. */
export interface Place {
  readonly run: RunWatch;
  /** The value of TAG that its caller has set. */
  readonly tag: string;
  /** Undefined in main, which holds no slot. */
  readonly holder: Holder | undefined;
}

/** Waits for children: the slot is for others meanwhile. */
export async function waiting<T>(holder: Holder | undefined, wait: () => Promise<T>): Promise<T> {
  holder?.beginWait();
  try {
    return await wait();
  } finally {
    holder?.endWait();
  }
}

/** The calling code must see what its caller has set, of an environment that is open. */
export function checkHere(stage: Stage, where: string, tag: string | undefined): void {
  const generation = useContext(GENERATION);
  const expected = tag ?? generation.tag;
  const seen = useContext(TAG);
  stage.check(seen === expected, () => `${where} sees the tag ${seen}, and its caller has set ${expected}`);
  stage.check(generation.isOpen, () => `${where} runs in ${generation.tag}, which is closed`);
}

/** A body, from its call to its end. `run` is undefined for one that belongs to no run alone. */
export async function inBody<T>(
  stage: Stage,
  where: string,
  { tag, run }: { readonly tag: string | undefined; readonly run: RunWatch | undefined },
  body: () => Promise<T>,
): Promise<T> {
  checkHere(stage, where, tag);
  const generation = useContext(GENERATION);
  generation.bodies += 1;
  if (run !== undefined) run.bodies += 1;
  stage.counts.items += 1;
  try {
    return await body();
  } finally {
    checkHere(stage, where, tag);
    generation.bodies -= 1;
    if (run !== undefined) run.bodies -= 1;
  }
}
