import type { Clock } from "../clock.js";
import type { RateSettings } from "../rate-limit/bucket/rated-bucket.js";
import type { SendCommand } from "./client.js";
import { StoreUnavailableError } from "./errors.js";
import { SCRIPT, SCRIPT_SHA } from "./script.js";

/** Tokens, or times, of each dimension, in one fixed order. */
export type Amounts = readonly number[];

/** A bucket of the store. */
export interface StoredBucket {
  /** The rate that holds, in tokens a second, and the burst window, in seconds. */
  readonly rate: RateSettings;
  /** Tokens that nobody has reserved; negative is debt. */
  readonly level: number;
}

/** Tokens that the store has set aside: when they are there, in milliseconds from when it was asked. */
export interface Reservation {
  readonly id: number;
  /** From when on any of them may be used: then those before it have theirs. */
  readonly startMs: number;
  /** When the last of them is there, of each dimension. */
  readonly readyMs: Amounts;
}

/** What the store answers to every command. */
export interface Answer {
  /** When the buckets were made. Others know nothing of the reservations of these. */
  readonly epoch: string;
  /** Milliseconds until the pause ends; 0 when none holds. */
  readonly pausedForMs: number;
  /** One for each dimension. */
  readonly buckets: readonly StoredBucket[];
  /** The reservations made, or asked about and not due yet. */
  readonly reservations: readonly Reservation[];
  /** For tokens tried: by what number they were taken; undefined when they were not. */
  readonly taken: number | undefined;
}

export type Command =
  "reserve" | "look" | "take" | "give" | "charge" | "refund" | "pause" | "resume" | "rate";

type Arguments = readonly (string | number)[];

export interface StorePlan {
  /** For errors. */
  readonly name: string;
  readonly key: string;
  readonly send: SendCommand;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** The rate and burst window of each dimension while none is set in the store. */
  readonly rates: readonly RateSettings[];
}

/** The buckets that all processes share, by the name of their limiter. */
export class Store {
  readonly #plan: StorePlan;
  /** What every command is given: how many dimensions, and the rate and burst window of each. */
  readonly #given: readonly string[];

  constructor(plan: StorePlan) {
    this.#plan = plan;
    const { rates } = plan;
    const each = rates.flatMap(({ maxRowsPerSecond, burstWindowSecs }) => [
      maxRowsPerSecond,
      burstWindowSecs,
    ]);
    this.#given = [rates.length, ...each].map(String);
  }

  /**
   * Does one thing in the store, once: what has failed may have been done, and is not tried again.
   *
   * @param onLate - Gets an answer that comes after the call was given up, or undefined for a failure.
   * @throws StoreUnavailableError when it failed, or was not answered in time.
   */
  call(
    command: Command,
    args: Arguments = [],
    onLate?: (answer: Answer | undefined) => void,
  ): Promise<Answer> {
    const { clock, name, timeoutMs } = this.#plan;
    return new Promise((resolve, reject) => {
      let isOver = false;
      const cancel = clock.schedule(timeoutMs, () => {
        isOver = true;
        reject(new StoreUnavailableError(name, `has not answered in ${String(timeoutMs)} ms`, true));
      });
      this.#run(command, args).then(
        (answer) => {
          cancel();
          if (isOver) onLate?.(answer);
          else resolve(answer);
        },
        (error: unknown) => {
          cancel();
          if (isOver) onLate?.(undefined);
          else reject(new StoreUnavailableError(name, "has failed", false, error));
        },
      );
    });
  }

  async #run(command: Command, args: Arguments): Promise<Answer> {
    const { send, rates } = this.#plan;
    const rest = ["1", this.#plan.key, command, ...this.#given, ...args.map(String)];
    const read = (reply: unknown): Answer => answerOf(reply, rates, command);
    try {
      return read(await send(["EVALSHA", SCRIPT_SHA, ...rest]));
    } catch (error) {
      // The only failure of which it is known that nothing was done.
      if (!isUnknownScript(error)) throw error;
      return read(await send(["EVAL", SCRIPT, ...rest]));
    }
  }
}

function isUnknownScript(error: unknown): boolean {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === "string" && message.startsWith("NOSCRIPT");
}

const OTHER = "The answer is not that of the script.";

function answerOf(reply: unknown, rates: readonly RateSettings[], command: Command): Answer {
  const isTaking = command === "take";
  const dimensions = rates.length;
  const foundAt = 2 + 3 * dimensions;
  if (!Array.isArray(reply) || reply.length < foundAt) throw new TypeError(OTHER);
  const textAt = (index: number): string => String(reply[index]);
  const numberAt = (index: number): number => {
    const number = Number(reply[index]);
    // A time that is no number would hold those in line for ever.
    if (!Number.isFinite(number)) throw new TypeError(OTHER);
    return number;
  };
  const buckets = rates.map((given, d): StoredBucket => {
    const at = 2 + 3 * d;
    // Empty while none is set.
    const rate =
      textAt(at) === "" ? given : { maxRowsPerSecond: numberAt(at), burstWindowSecs: numberAt(at + 1) };
    return { rate, level: numberAt(at + 2) };
  });
  const reservations: Reservation[] = [];
  for (let at = foundAt; !isTaking && at < reply.length; at += 2 + dimensions) {
    const readyMs = rates.map((_, d) => numberAt(at + 2 + d) / 1000);
    reservations.push({ id: numberAt(at), startMs: numberAt(at + 1) / 1000, readyMs });
  }
  const pausedForMs = numberAt(1) / 1000;
  // Or the head would be asked for again at once, and again.
  if (command === "reserve" && pausedForMs === 0 && reservations.length === 0) throw new TypeError(OTHER);
  return {
    epoch: textAt(0),
    pausedForMs,
    buckets,
    reservations,
    taken: isTaking && reply.length > foundAt ? numberAt(foundAt) : undefined,
  };
}
