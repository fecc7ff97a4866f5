import { LuaFactory } from "wasmoon";
import { SCRIPT } from "../../src/redis/script.js";
import type { ManualClock } from "../../src/testing/index.js";

const lua = await new LuaFactory().createEngine();
const STARTED_AT_MICROS = 1_700_000_000_000_000;

/** How a request fares: milliseconds there and back, or lost on the way, or refused by the client. */
export type Fate = readonly [thereMs: number, backMs: number] | "lost" | "refused";

/** What the script is run with: one hash, and a clock. */
interface Surroundings {
  readonly key: string;
  readonly args: readonly string[];
  readonly hash: Map<string, string>;
  readonly now: number;
  readonly expire: (ms: number) => void;
}

/** Runs the script of the store as a server would, in an interpreter of its language. */
function runScript({ key, args, hash, now, expire }: Surroundings): string[] {
  const micros = STARTED_AT_MICROS + Math.round(now * 1000);
  const commands: Record<string, (...rest: string[]) => unknown> = {
    TIME: () => [String(Math.floor(micros / 1e6)), String(micros % 1e6)].join("\n"),
    HGETALL: () => [...hash].flat().join("\n"),
    HSET: (...fields) => {
      for (let at = 0; at < fields.length; at += 2) hash.set(fields[at] ?? "", fields[at + 1] ?? "");
    },
    PEXPIRE: (ms) => {
      expire(Number(ms));
    },
    PERSIST: () => {
      expire(Infinity);
    },
  };
  lua.global.set("perform", (name: string, ...rest: string[]) => {
    const command = commands[name];
    if (command === undefined) throw new Error(`The fake store has no ${name}.`);
    return command(...rest.slice(name === "TIME" ? 0 : 1).map(String)) ?? "";
  });
  const list = (values: readonly string[]): string => values.map((value) => JSON.stringify(value)).join(",");
  return String(
    lua.doStringSync(`
      unpack = unpack or table.unpack
      redis = { call = function(name, ...)
        local reply = {}
        for value in string.gmatch(perform(name, ...) .. '\\n', '([^\\n]*)\\n') do reply[#reply + 1] = value end
        return reply
      end }
      KEYS, ARGV = { ${list([key])} }, { ${list(args)} }
      return table.concat((function() ${SCRIPT} end)(), ' ')
    `),
  ).split(" ");
}

/** A server on a clock of its own, behind a network. */
export class FakeRedis {
  /** The commands that were carried out, with what they need, and those that were sent. */
  readonly done: string[][] = [];
  readonly sent: string[] = [];
  /** How the next requests fare; the last one holds on. */
  fates: Fate[] = [[0, 0]];
  unanswered = 0;
  mostUnanswered = 0;
  /** How far the server's clock is ahead of the other one. */
  clockOffsetMs = 0;
  /** The life that the key was given last. */
  expiresInMs: number | undefined = undefined;
  readonly #hash = new Map<string, string>();
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  /** Loses all, as a server does that keeps nothing. */
  flush(): void {
    this.#hash.clear();
  }

  /** The fields of the key. */
  get fields(): string[] {
    return [...this.#hash.keys()];
  }

  /** What nobody has reserved of a dimension, in tokens, by the last command. */
  level(dimension = 1): number {
    return Number(this.#hash.get(`level${String(dimension)}`)) / 1e6 - this.reserved(dimension);
  }

  /** Tokens of a dimension that are reserved and not due yet, by the last command. */
  reserved(dimension = 1): number {
    const entries = (this.#hash.get("line") ?? "").split(";").filter((entry) => entry !== "");
    return entries.reduce((sum, entry) => sum + Number(entry.split(" ")[1 + dimension]) / 1e6, 0);
  }

  /** Carries out one command now; what it answers. */
  run(args: readonly string[]): string[] {
    const [, , , key = "", ...rest] = args;
    const [command = "", dimensions, ...more] = rest;
    this.done.push([command, ...more.slice(2 * Number(dimensions))]);
    const expire = (ms: number): void => {
      this.expiresInMs = ms;
    };
    return runScript({
      key,
      args: rest,
      hash: this.#hash,
      now: this.#clock.now() + this.clockOffsetMs,
      expire,
    });
  }

  readonly send = (args: string[]): Promise<unknown> => {
    this.sent.push(args[4] ?? "");
    const fate = this.fates.length > 1 ? (this.fates.shift() as Fate) : this.fates[0];
    if (fate === "refused") return Promise.reject(new Error("refused"));
    this.unanswered += 1;
    this.mostUnanswered = Math.max(this.mostUnanswered, this.unanswered);
    return new Promise((resolve) => {
      if (fate === undefined || fate === "lost") return;
      const [thereMs, backMs] = fate;
      this.#after(thereMs, () => {
        const answer = this.run(args);
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
}
