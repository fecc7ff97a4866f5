import type { ManualClock } from "../../src/testing/index.js";

/** How a request fares: milliseconds there and back, or lost on the way, or refused by the client. */
export type Fate = readonly [thereMs: number, backMs: number] | "lost" | "refused";

/** A server with a bucket of its own, on a clock of its own, behind a network. It does what the script does. */
export class FakeRedis {
  /** The commands that were carried out, with their arguments, and those that were sent. */
  readonly done: string[][] = [];
  readonly sent: string[] = [];
  /** How the next requests fare; the last one holds on. */
  fates: Fate[] = [[0, 0]];
  unanswered = 0;
  mostUnanswered = 0;
  epoch = "1.0";
  level: number | undefined = undefined;
  taken = 0;
  #since = 0;
  #hold = 0;
  #set: readonly [rate: number, window: number] | undefined = undefined;
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  /** Loses all, as a server does that keeps nothing. */
  flush(): void {
    this.epoch = `${this.epoch}0`;
    this.level = undefined;
    this.#hold = 0;
  }

  readonly send = (args: string[]): Promise<unknown> => {
    const [, , , , command = "", ...rest] = args;
    this.sent.push(command);
    const fate = this.fates.length > 1 ? (this.fates.shift() as Fate) : this.fates[0];
    if (fate === "refused") return Promise.reject(new Error("refused"));
    this.unanswered += 1;
    this.mostUnanswered = Math.max(this.mostUnanswered, this.unanswered);
    return new Promise((resolve) => {
      if (fate === undefined || fate === "lost") return;
      const [thereMs, backMs] = fate;
      this.#after(thereMs, () => {
        const answer = this.#run(command, rest);
        this.#after(backMs, () => {
          this.unanswered -= 1;
          resolve(answer);
        });
      });
    });
  };

  #after(ms: number, action: () => void): void {
    if (ms === 0) action();
    else this.#clock.schedule(ms, action);
  }

  /** In tokens and milliseconds where the script has millionths and microseconds. */
  #run(command: string, [rateArg, windowArg, ...args]: string[]): string[] {
    this.done.push([command, ...args]);
    const now = this.#clock.now();
    const [rate, window] = this.#set ?? [Number(rateArg), Number(windowArg)];
    let most = Math.max(1, rate * window);
    let level = this.level ?? most;
    const perMs = rate / 1000;
    const gain = (to: number): void => {
      level = Math.min(most, level + (to - this.#since) * perMs);
      this.#since = to;
    };
    if (this.level === undefined) this.#since = now;
    if (this.#hold > 0 && this.#hold <= now) {
      gain(this.#hold);
      level = Math.min(level, 1);
      this.#hold = 0;
    }
    gain(now);
    const found: number[] = [];
    const numbers = args.map(Number);
    const [first = 0] = numbers;
    if (command === "reserve" && this.#hold === 0) {
      for (const tokens of numbers.slice(1)) {
        const wait = Math.max(0, tokens - level) / perMs;
        if (found.length > 0 && wait - (found[0] ?? 0) > first / 1000) break;
        level -= tokens;
        this.taken += tokens;
        found.push(wait);
      }
    } else if (command === "look" && args[0] === this.epoch) {
      for (const place of numbers.slice(1)) found.push(Math.max(0, place - this.taken - level) / perMs);
    } else if (command === "take" && this.#hold === 0 && level >= first) {
      level -= first;
      this.taken += first;
      found.push(1);
    } else if (command === "give" && args[0] === this.epoch && numbers[1] === this.taken) {
      level = Math.min(most, level + (numbers[2] ?? 0));
      this.taken -= numbers[2] ?? 0;
    } else if (command === "charge") {
      level -= first;
      this.taken += first;
    } else if (command === "refund") level = Math.min(most, level + first);
    else if (command === "pause") this.#hold = Math.max(this.#hold, now + first);
    else if (command === "resume") {
      level = Math.min(level, this.#hold > 0 ? 1 : Infinity);
      this.#hold = 0;
    } else if (command === "rate") {
      this.#set = [args[0] === "" ? rate : first, args[1] === "" ? window : (numbers[1] ?? 0)];
      most = Math.max(1, this.#set[0] * this.#set[1]);
      level = Math.min(level, most);
    }
    this.level = level;
    const hold = Math.max(0, this.#hold - now) * 1000;
    const [rateNow, windowNow] = this.#set ?? [rate, window];
    return [
      this.epoch,
      ...[rateNow, windowNow, level, hold, this.taken, ...found.map((ms) => ms * 1000)].map(String),
    ];
  }
}
