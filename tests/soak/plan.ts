import { type BatchItem, type Call, type CallName, CALLS, KEYS, LARGEST_DRAW } from "./functions.js";
import type { Random } from "./random.js";

/** A part of a program. All of it is drawn before it runs, so it depends on the seed alone. */
export type Plan =
  | ({ readonly kind: "call"; readonly name: CallName } & Call)
  | { readonly kind: "batch"; readonly items: readonly BatchItem[] }
  | { readonly kind: "draw"; readonly key: number; readonly tokens: number; readonly maxWaitMs: number }
  | { readonly kind: "permit"; readonly units: number; readonly actual: number }
  | { readonly kind: "lazy" }
  | { readonly kind: "all"; readonly parts: readonly Plan[] }
  | { readonly kind: "sequence"; readonly parts: readonly Plan[] }
  | { readonly kind: "attempt"; readonly body: Plan }
  | { readonly kind: "gated"; readonly body: Plan }
  | { readonly kind: "override"; readonly tag: string; readonly body: Plan }
  | { readonly kind: "timeout"; readonly ms: number; readonly body: Plan }
  | ({ readonly kind: "map" } & FanOutPlan)
  | ({ readonly kind: "stream"; readonly ordered: boolean; readonly takes: number } & FanOutPlan)
  | ({ readonly kind: "mountEach"; readonly handler: Handler; readonly waits: boolean } & FanOutPlan)
  | { readonly kind: "mount"; readonly handler: Handler; readonly item: ItemPlan }
  | {
      readonly kind: "nested";
      readonly concurrency: number;
      readonly abortAfterMs: number;
      readonly body: Plan;
    };

/** What an exception handler does: deals with it, or throws, so that the one of the environment is asked. */
export type Handler = "deals" | "throws";

export interface ItemPlan {
  readonly id: number;
  readonly body: Plan;
}

export interface FanOutPlan {
  readonly items: readonly ItemPlan[];
  readonly concurrency: number | undefined;
  /** The items come from a source that takes its time, and that may fail after them. */
  readonly source: "array" | "slow" | "failing";
}

/** The share of calls that fail. */
const FAILING = 0.04;

/**
 * Whether a gate may stand here. A function with a limit that reaches itself directly waits for itself when no slot is
 * left: as long as one is held, only what is in a fan-out may pass, which gives the slot up; and nothing in a run inside,
 * which does not.
 */
type Gate = "open" | "held" | "shut";

/** Draws programs. Every id is used once. */
export class Planner {
  readonly #random: Random;
  #id = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** @param depth - How many fan-outs may stand in one another. */
  plan(depth: number, gate: Gate = "open"): Plan {
    const random = this.#random;
    if (depth === 0 || random.chance(0.2)) return this.#leaf();
    const body = (inside = gate): Plan => this.plan(depth - 1, inside);
    const inFanOut = gate === "shut" ? "shut" : "open";
    const kind = random.pick([
      "map",
      "map",
      "stream",
      "stream",
      "mountEach",
      "mount",
      "all",
      "sequence",
      "attempt",
      "gated",
      "override",
      "timeout",
      "nested",
    ]);
    switch (kind) {
      case "map":
        return { kind, ...this.#fanOut(depth, inFanOut) };
      case "stream":
        return {
          kind,
          ordered: random.chance(0.5),
          takes: random.int(0, 12),
          ...this.#fanOut(depth, inFanOut),
        };
      case "mountEach":
        return {
          kind,
          handler: this.#handler(),
          waits: random.chance(0.5),
          ...this.#fanOut(depth, inFanOut),
        };
      case "mount":
        return { kind, handler: this.#handler(), item: this.#item(depth, inFanOut) };
      case "all":
      case "sequence":
        return { kind, parts: random.times(random.int(1, 3), () => body()) };
      case "gated":
        return gate === "open" ? { kind, body: body("held") } : this.#leaf();
      case "attempt":
        return { kind, body: body() };
      case "override":
        return { kind, tag: `override ${String(this.#next())}`, body: body() };
      case "timeout":
        return { kind, ms: random.int(0, 25), body: body() };
      case "nested":
        return {
          kind,
          concurrency: random.int(1, 4),
          abortAfterMs: random.chance(0.3) ? random.int(0, 10) : Infinity,
          body: body(gate === "open" ? "open" : "shut"),
        };
    }
  }

  #leaf(): Plan {
    const random = this.#random;
    const kind = random.pick(["call", "call", "call", "batch", "draw", "permit", "lazy"]);
    switch (kind) {
      case "call":
        return { kind, name: random.pick(CALLS), ...this.#call() };
      case "batch":
        return { kind, items: random.times(random.int(1, 7), () => this.#batchItem()) };
      case "draw": {
        const maxWaitMs = random.chance(0.3) ? random.int(0, 10) : Infinity;
        return { kind, key: random.pick(KEYS), tokens: random.int(0, LARGEST_DRAW), maxWaitMs };
      }
      case "permit":
        return { kind, units: random.int(0, 20), actual: random.int(0, 20) };
      case "lazy":
        return { kind };
    }
  }

  #fanOut(depth: number, gate: Gate): FanOutPlan {
    const random = this.#random;
    return {
      items: random.times(random.int(0, 9), () => this.#item(depth, gate)),
      concurrency: random.chance(0.5) ? random.int(1, 5) : undefined,
      source: random.pick(["array", "array", "slow", "slow", "failing"]),
    };
  }

  #item(depth: number, gate: Gate): ItemPlan {
    return { id: this.#next(), body: this.plan(this.#random.chance(0.3) ? depth - 1 : 0, gate) };
  }

  #call(): Call {
    const random = this.#random;
    const delayMs = random.chance(0.1) ? 40 : random.int(0, 6);
    return { id: this.#next(), delayMs, fails: random.chance(FAILING) };
  }

  #batchItem(): BatchItem {
    const random = this.#random;
    return { id: this.#next(), delayMs: random.int(0, 3), refused: random.chance(FAILING) };
  }

  #handler(): Handler {
    return this.#random.pick(["deals", "throws"]);
  }

  #next(): number {
    this.#id += 1;
    return this.#id;
  }
}
