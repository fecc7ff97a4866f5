import { setTimeout as sleep } from "node:timers/promises";
import {
  App,
  type Environment,
  type ProgressReporter,
  type RunHandle,
  withContext,
} from "../../src/index.js";
import { TAG } from "./generation.js";
import { mainOf } from "./main-of-run.js";
import { perform } from "./perform.js";
import type { RunWatch } from "./place.js";
import { type Plan, type Planner } from "./plan.js";
import type { Random } from "./random.js";
import { PlannedFailure, type Stage } from "./stage.js";

/** A run, and what happens to it from outside. */
export interface Launch {
  readonly afterMs: number;
  readonly isInChild: boolean;
  /** Through an App, or `environment.run`, which needs a running environment. */
  readonly how: "app" | "run";
  readonly concurrency: number;
  readonly body: Plan;
  /** An override around the call that begins the run. */
  readonly tag: string | undefined;
  readonly signal: "long-lived" | "aborted" | "none";
  readonly ends: "by itself" | "abort" | "dispose";
  readonly endsAfterMs: number;
  readonly reports: boolean;
  /** Snapshots after which its watcher leaves; -1: nobody watches. */
  readonly watches: number;
}

export function drawLaunch(random: Random, planner: Planner, index: number): Launch {
  return {
    afterMs: random.int(0, 15),
    isInChild: random.chance(0.3),
    how: random.chance(0.8) ? "app" : "run",
    concurrency: random.int(1, 8),
    body: planner.plan(3),
    tag: random.chance(0.4) ? `launch ${String(index)}` : undefined,
    signal: random.pick(["long-lived", "long-lived", "aborted", "none"]),
    ends: random.pick(["by itself", "by itself", "by itself", "abort", "dispose"]),
    endsAfterMs: random.int(0, 30),
    reports: random.chance(0.3),
    watches: random.chance(0.4) ? random.int(0, 10) : -1,
  };
}

/** Begins a run and waits for its end; never rejects. */
export async function launch(
  stage: Stage,
  plan: Launch,
  environment: Environment,
  aborted: AbortSignal,
): Promise<void> {
  await sleep(plan.afterMs);
  stage.counts.runs += 1;
  let watched: RunWatch | undefined;
  const main = (): Promise<void> =>
    mainOf(
      stage,
      plan.how === "app" ? plan.concurrency : Infinity, // environment.run has no limit that would be reached
      (place) => perform(stage, place, plan.body),
      (run) => (watched = run),
    );
  const inTag = <T>(body: () => T): T => (plan.tag === undefined ? body() : withContext(TAG, plan.tag, body));
  try {
    if (plan.how === "run") {
      await inTag(() => environment.run(main));
      return;
    }
    const app = new App({ name: "soak", environment, concurrency: plan.concurrency }, main);
    const signal = { "long-lived": stage.signal, aborted, none: undefined }[plan.signal];
    const reporter = plan.reports ? new CheckedReporter(stage) : undefined;
    const handle = inTag(() => app.run({ signal, progress: reporter }));
    const others = [endIt(stage, plan, handle), watch(stage, plan.watches, handle)];
    try {
      await handle;
    } finally {
      const { inFlight } = handle.stats().total;
      stage.check(inFlight === 0, () => `a run has settled with ${String(inFlight)} calls in flight`);
      const bodies = watched?.bodies ?? 0;
      stage.check(bodies === 0, () => `a run has settled beside ${String(bodies)} bodies`);
      reporter?.checkOver();
      await Promise.all(others);
    }
  } catch (error) {
    stage.expectFailure(error, "a run");
  }
}

async function endIt(stage: Stage, { ends, endsAfterMs }: Launch, handle: RunHandle<void>): Promise<void> {
  if (ends === "by itself") return;
  await sleep(endsAfterMs);
  stage.counts.aborts += 1;
  if (ends === "abort") handle.abort(new PlannedFailure("the abort of a run"));
  else await handle[Symbol.asyncDispose]();
}

async function watch(stage: Stage, snapshots: number, handle: RunHandle<void>): Promise<void> {
  if (snapshots < 0) return;
  let seen = 0;
  try {
    for await (const { state } of handle.watch()) {
      if (state === "ready" || seen >= snapshots) break;
      seen += 1;
    }
  } catch (error) {
    stage.expectFailure(error, "a watcher");
  }
}

/** A reporter that minds the order in which it is told things. */
class CheckedReporter implements ProgressReporter {
  readonly intervalMs = 2;
  readonly #stage: Stage;
  #state: "new" | "started" | "stopped" = "new";

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  start(): void {
    this.#expect("new", "start");
    this.#state = "started";
  }

  update(): void {
    this.#expect("started", "update");
  }

  stop(): void {
    this.#expect("started", "stop");
    this.#state = "stopped";
  }

  checkOver(): void {
    this.#stage.check(this.#state !== "started", () => "a reporter was not told of the end of its run");
  }

  #expect(state: string, call: string): void {
    this.#stage.check(
      this.#state === state,
      () => `${call} of a reporter was called when it was ${this.#state}`,
    );
  }
}
