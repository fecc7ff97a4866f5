import { isPlainPromise } from "../../context/index.js";
import { nameOf } from "../../internal/name-of.js";
import type { CallCounts, FunctionStats } from "./run-stats.js";

/** Marks a function that counts its own calls, so that a fan-out over it does not. Shared by all copies of the package. */
const COUNTS_ITSELF = Symbol.for("tidegate/counts-itself/v1");

export function markCounting<F extends object>(f: F): F {
  return Object.defineProperty(f, COUNTS_ITSELF, { value: true });
}

/** The calls of one function in one run. */
export class CallCounter {
  readonly name: string;
  started = 0;
  done = 0;
  failed = 0;
  /** Calls that fan-outs have announced, those over sources of unknown length at their end. */
  #announced = 0;
  #openSources = 0;
  /** The one that it belongs to. */
  readonly tally: RunTally;

  constructor(name: string, tally: RunTally) {
    this.name = name;
    this.tally = tally;
  }

  /** A call begins. `end` follows. */
  begin(): void {
    this.started += 1;
    this.tally.onChange?.();
  }

  end(isFailure: boolean): void {
    if (isFailure) this.failed += 1;
    else this.done += 1;
    this.tally.onChange?.();
  }

  /**
   * Makes one call. It ends with the promise that it gives; when it gives something else, a lazy thenable or a generator
   * among that, as soon as it returns.
   */
  count(call: (self: unknown, args: unknown[]) => unknown, self: unknown, args: unknown[]): unknown {
    this.begin();
    let result: unknown;
    try {
      result = call(self, args);
    } catch (error) {
      return this.#fail(error);
    }
    // The caller gets the promise that is derived: looking at the other one would hide that nobody handles its failure.
    return isPlainPromise(result) ? result.then(this.#succeed, this.#fail) : this.#succeed(result);
  }

  // Fields, so that a promise takes them without a closure for each call.
  readonly #succeed = (value: unknown): unknown => {
    this.end(false);
    return value;
  };

  readonly #fail = (error: unknown): never => {
    this.end(true);
    throw error;
  };

  /** A fan-out begins, over `size` items; undefined when that cannot be told. */
  announce(size: number | undefined): void {
    if (size === undefined) this.#openSources += 1;
    else this.#announced += size;
    this.tally.onChange?.();
  }

  /** The fan-out has come to its end, when it had started so many of its items. Those left over stay expected. */
  correct(size: number | undefined, started: number): void {
    if (size !== undefined) return;
    this.#openSources -= 1;
    this.#announced += started;
    this.tally.onChange?.();
  }

  get expected(): number | undefined {
    return this.#openSources > 0 ? undefined : Math.max(this.#announced, this.started);
  }

  stats(): FunctionStats {
    return { name: this.name, ...countsOf(this) };
  }
}

/** One fan-out, as its run counts it. */
export interface FanoutCount {
  /** Counts the items; undefined when the function counts its calls itself. */
  readonly items: CallCounter | undefined;
  end(started: number): void;
}

/** What is called in one run, and how often. */
export class RunTally {
  /** Is told of each call and fan-out that begins or ends. */
  onChange: (() => void) | undefined = undefined;
  readonly #counters = new Map<string, CallCounter>();

  /** The counter of the functions of that name. */
  counter(name: string): CallCounter {
    let counter = this.#counters.get(name);
    if (counter === undefined) {
      counter = new CallCounter(name === "" ? "(anonymous)" : name, this);
      this.#counters.set(name, counter);
    }
    return counter;
  }

  /** A fan-out of `f` begins, over `size` items; undefined when that cannot be told. */
  fanOut(f: { readonly name: string }, size: number | undefined): FanoutCount {
    const counter = this.counter(nameOf(f));
    counter.announce(size);
    return {
      items: COUNTS_ITSELF in f ? undefined : counter,
      end: (started) => {
        counter.correct(size, started);
      },
    };
  }

  functions(): FunctionStats[] {
    return Array.from(this.#counters.values(), (counter) => counter.stats());
  }

  total(): CallCounts {
    const sums = { started: 0, done: 0, failed: 0, expected: 0 as number | undefined };
    for (const { started, done, failed, expected } of this.#counters.values()) {
      sums.started += started;
      sums.done += done;
      sums.failed += failed;
      sums.expected = add(sums.expected, expected);
    }
    return countsOf(sums);
  }
}

function add(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b;
}

function countsOf({
  started,
  done,
  failed,
  expected,
}: Pick<CallCounts, "started" | "done" | "failed" | "expected">): CallCounts {
  return {
    started,
    done,
    failed,
    inFlight: started - done - failed,
    expected,
    percent: expected === undefined ? undefined : expected === 0 ? 100 : (100 * (done + failed)) / expected,
  };
}
