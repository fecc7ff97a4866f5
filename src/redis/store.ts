import type { Clock } from "../clock.js";
import type { RateSettings } from "../rate-limit/bucket/rated-bucket.js";
import type { SendCommand } from "./client.js";
import { StoreUnavailableError } from "./errors.js";
import { SCRIPT, SCRIPT_SHA } from "./script.js";

/** What the store answers to every command. */
export interface Answer {
  /** When the bucket was made. Another one knows nothing of the places of this one. */
  readonly epoch: string;
  /** The rate that holds, in tokens a second, and the burst window, in seconds. */
  readonly rate: number;
  readonly burstWindowSecs: number;
  /** Tokens in the bucket; negative is debt. */
  readonly level: number;
  /** Milliseconds until the pause ends; 0 when none holds. */
  readonly pausedForMs: number;
  /** The place behind all tokens handed out. */
  readonly place: number;
  /** For tokens reserved or looked at: the milliseconds until each is due. For tokens tried: one entry when they were taken. */
  readonly found: readonly number[];
}

export type Command =
  "reserve" | "look" | "take" | "give" | "charge" | "refund" | "pause" | "resume" | "rate";

export interface StorePlan {
  readonly name: string;
  readonly send: SendCommand;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** The rate and the burst window while none is set in the store. */
  readonly rate: RateSettings;
}

/** The bucket that all processes share, by the name of its limiter. */
export class Store {
  readonly #plan: StorePlan;

  constructor(plan: StorePlan) {
    this.#plan = plan;
  }

  /**
   * Does one thing in the store, once: what has failed may have been done, and is not tried again.
   *
   * @param onLate - Gets an answer that comes after the call was given up, or undefined for a failure.
   * @throws StoreUnavailableError when it failed, or was not answered in time.
   */
  call(
    command: Command,
    args: readonly (number | string)[] = [],
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

  async #run(command: Command, args: readonly (number | string)[]): Promise<Answer> {
    const { name, send, rate } = this.#plan;
    const rest = [
      "1",
      `tidegate:{${name}}`,
      command,
      ...[rate.maxRowsPerSecond, rate.burstWindowSecs, ...args].map(String),
    ];
    try {
      return answerOf(await send(["EVALSHA", SCRIPT_SHA, ...rest]));
    } catch (error) {
      // The only failure of which it is known that nothing was done.
      if (!isUnknownScript(error)) throw error;
      return answerOf(await send(["EVAL", SCRIPT, ...rest]));
    }
  }
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT");
}

function answerOf(reply: unknown): Answer {
  if (!Array.isArray(reply) || reply.length < 6) throw new TypeError("The answer is not that of the script.");
  const [epoch, ...numbers] = reply.map(String) as [string, ...string[]];
  const [rate, burstWindowSecs, level, holdMicros, place, ...found] = numbers.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    ...number[],
  ];
  const pausedForMs = holdMicros / 1000;
  return {
    epoch,
    rate,
    burstWindowSecs,
    level,
    pausedForMs,
    place,
    found: found.map((micros) => micros / 1000),
  };
}
