import { setImmediate as nextTurn } from "node:timers/promises";

const MEGABYTE = 2 ** 20;
/** Code that is compiled late, and what the garbage collector leaves for the next time. */
const ALLOWED_MB = 4;
/** Below that the quarters say nothing. */
const LEAST_SAMPLES = 20;
const EVERY_MS = 1_000;

/** The size of the heap over time. Needs `--expose-gc`. */
export class Heap {
  readonly samples: number[] = [];
  #latest = -Infinity;

  /** Takes a sample, unless the last one is younger than a second. */
  async sample(): Promise<void> {
    const now = performance.now();
    if (now - this.#latest < EVERY_MS) return;
    this.#latest = now;
    if (globalThis.gc === undefined) throw new Error("The soak needs node --expose-gc, to see what is kept.");
    await nextTurn();
    globalThis.gc();
    this.samples.push(process.memoryUsage().heapUsed / MEGABYTE);
  }

  /** The mean of the first quarter and of the last, in MB. */
  quarters(): { readonly first: number; readonly last: number } {
    const count = Math.max(1, Math.floor(this.samples.length / 4));
    return { first: mean(this.samples.slice(0, count)), last: mean(this.samples.slice(-count)) };
  }

  /** What is wrong; undefined when the heap is as flat as it should be, or when too little is known. */
  fault(): string | undefined {
    const { first, last } = this.quarters();
    if (this.samples.length < LEAST_SAMPLES || last - first <= ALLOWED_MB) return undefined;
    return `the heap has grown from ${first.toFixed(1)} MB in the first quarter to ${last.toFixed(1)} MB in the last`;
  }
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
