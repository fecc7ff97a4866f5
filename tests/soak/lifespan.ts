import { setTimeout as sleep } from "node:timers/promises";
import {
  ContextKey,
  type Environment,
  type EnvironmentBuilder,
  KeyedRateLimiter,
  type Lifespan,
  RateBudget,
  RateLimiter,
  useContext,
} from "../../src/index.js";
import { BUDGET, KEYED, KEYS, LARGEST_DRAW, RATE } from "./functions.js";
import { Generation, GENERATION, TAG } from "./generation.js";
import type { Random } from "./random.js";
import { PlannedFailure, type Stage } from "./stage.js";

/** A value that its environment opens and closes. */
interface Value {
  readonly name: string;
  isOpen: boolean;
}

export const LAZY = new ContextKey<Promise<Value>>("soak/lazy");
const LATE = new ContextKey<AsyncDisposable>("soak/late");
const DEPENDENT = new ContextKey<Value>("soak/dependent");

/** What one start does. */
export interface StartPlan {
  readonly openMs: number;
  readonly lateMs: number;
  readonly closeMs: number;
  readonly fails: "no" | "by throwing" | "late";
  readonly closerFails: boolean;
  /** Tokens a second of its limiters, and the seconds of burst. */
  readonly rate: number;
  readonly burst: number;
}

export function drawStart(random: Random): StartPlan {
  return {
    openMs: random.int(0, 3),
    lateMs: random.int(0, 6),
    closeMs: random.int(0, 3),
    fails: random.chance(0.85) ? "no" : random.pick(["by throwing", "late"]),
    closerFails: random.chance(0.1),
    rate: random.pick([150, 1_000, 3_000]),
    burst: random.pick([0, 0.01, 0.05]),
  };
}

/** A start that does not fail, and fast limiters. */
export const CALM: StartPlan = {
  openMs: 0,
  lateMs: 0,
  closeMs: 0,
  fails: "no",
  closerFails: false,
  rate: 10_000,
  burst: 0.1,
};

/** A lifespan that does at each start what `nextStart` says. The generations are added to `generations`. */
export function lifespanOf(
  stage: Stage,
  environment: () => Environment,
  nextStart: () => StartPlan,
  generations: Generation[],
): Lifespan {
  return async function* soak(builder) {
    const plan = nextStart();
    const generation = beginGeneration(stage, environment(), builder, undefined);
    generations.push(generation);
    builder.setExceptionHandler((error) => {
      stage.expectFailure(error, "mounted work");
    });
    await sleep(plan.openMs);
    provideLimiters(stage, builder, generation, plan);
    void builder.provideWith(LATE, openLate(generation, plan)).catch(() => undefined); // the start waits, and fails
    provideLazy(builder, generation);
    if (plan.fails === "by throwing") throw new PlannedFailure("a start");
    await sleep(plan.openMs);
    own(builder, generation, "the last", async () => {
      await sleep(plan.closeMs);
      if (plan.closerFails) throw new PlannedFailure("a closer");
    });
    yield;
    await sleep(plan.closeMs);
    generation.left();
  };
}

/** What a child overrides at each of its starts. */
export function overridesOf(
  stage: Stage,
  child: () => Environment,
  generations: Generation[],
): (builder: EnvironmentBuilder) => Promise<void> {
  return async (builder) => {
    generations.push(beginGeneration(stage, child(), builder, builder.get(GENERATION)));
    await sleep(1);
  };
}

function beginGeneration(
  stage: Stage,
  environment: Environment,
  builder: EnvironmentBuilder,
  parent: Generation | undefined,
): Generation {
  const generation = new Generation(stage, environment, parent);
  own(builder, generation, "the first");
  builder.provide(GENERATION, generation);
  builder.provide(TAG, generation.tag);
  return generation;
}

function own(
  builder: EnvironmentBuilder,
  generation: Generation,
  name: string,
  close = async (): Promise<void> => undefined,
): void {
  generation.opened(name);
  builder.defer(() => {
    generation.closed(name);
    return close();
  });
}

function provideLimiters(
  stage: Stage,
  builder: EnvironmentBuilder,
  generation: Generation,
  { rate, burst }: StartPlan,
): void {
  const { clock, grants } = stage;
  const opened = (kind: string, logs: Readonly<Record<string, Bound>>): { name: string; over(): void } => {
    const name = `${kind} of ${generation.tag}`;
    generation.opened(kind);
    for (const [log, bound] of Object.entries(logs)) grants.add(name + log, bound.rate, bound.capacity);
    const over = (): void => {
      generation.closed(kind);
      for (const log of Object.keys(logs)) grants.remove(name + log);
    };
    return { name, over };
  };
  const checkEmpty = (name: string, queued: number): void => {
    stage.check(queued === 0, () => `${name}: ${String(queued)} callers are in line when it is closed`);
  };

  const options = { maxRowsPerSecond: rate, burstWindowSecs: burst };
  const bound: Bound = { rate, capacity: Math.max(1, rate * burst) };
  const one = opened("limiter", { "": bound });
  builder.provide(RATE, new RateLimiter({ ...options, name: one.name, clock }), (limiter) => {
    one.over();
    checkEmpty(one.name, limiter.stats().queued);
    limiter.close();
  });
  const two = opened("budget", { "/calls": bound, "/units": bound });
  const dimensions = { calls: options, units: options };
  builder.provide(BUDGET, new RateBudget(dimensions, { name: two.name, clock }), (budget) => {
    two.over();
    checkEmpty(two.name, budget.stats().queued);
    budget.close();
  });
  // The keys share a name, so they are held against the sum of their bounds.
  const sum = { rate: rate * KEYS.length, capacity: Math.max(bound.capacity, LARGEST_DRAW) * KEYS.length };
  const many = opened("keyed limiter", { "": sum });
  const keyed = { ...options, name: many.name, clock };
  builder.provide(KEYED, new KeyedRateLimiter<number>(keyed), (limiters) => {
    many.over();
    for (const key of KEYS) checkEmpty(many.name, limiters.for(key).stats().queued);
    limiters.close();
  });
}

interface Bound {
  readonly rate: number;
  readonly capacity: number;
}

async function openLate(generation: Generation, { lateMs, fails }: StartPlan): Promise<AsyncDisposable> {
  await sleep(lateMs);
  if (fails === "late") throw new PlannedFailure("a resource");
  generation.opened("the late one");
  return {
    async [Symbol.asyncDispose]() {
      generation.closed("the late one");
    },
  };
}

function provideLazy(builder: EnvironmentBuilder, generation: Generation): void {
  const open = (name: string): Value => {
    generation.opened(name);
    return { name, isOpen: true };
  };
  const close = (value: Value): void => {
    value.isOpen = false;
    generation.closed(value.name);
  };
  let made = 0;
  builder.provideLazy(DEPENDENT, () => open("what a lazy value needs"), close);
  builder.provideLazy(
    LAZY,
    async () => {
      made += 1;
      const name = `lazy value ${String(made)}`;
      if (made === 1) throw new PlannedFailure(name); // which is not remembered
      useContext(DEPENDENT);
      const value = open(name);
      await sleep(1);
      return value;
    },
    async (value) => {
      close(await value);
    },
  );
}
