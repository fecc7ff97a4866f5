import { setTimeout as sleep } from "node:timers/promises";
import { App, Environment, map } from "../../src/index.js";
import type { Generation } from "./generation.js";
import { type Arrive, LIMITS } from "./functions.js";
import { drawLaunch, launch, type Launch } from "./launch.js";
import { CALM, drawStart, lifespanOf, overridesOf } from "./lifespan.js";
import { mainOf } from "./main-of-run.js";
import { Planner } from "./plan.js";
import { Random } from "./random.js";
import { PlannedFailure, type Stage } from "./stage.js";

/** Something that happens to the environments while the runs are under way. */
interface Event {
  readonly afterMs: number;
  readonly what: "stop" | "stop with a reason" | "stop the child" | "start";
}

/** From the first start of an environment to a stop after which nothing is left. */
interface LifePlan {
  readonly launches: readonly Launch[];
  readonly events: readonly Event[];
  readonly abortsAfterMs: number;
}

/** No resource takes longer to arrive. */
const LATEST_ARRIVAL_MS = 10;

/** Plays one environment with a child: up to three lives, then a life in which all slots must be free. */
export async function playRound(stage: Stage, seed: number): Promise<void> {
  const random = new Random(seed);
  const planner = new Planner(random);
  const lives = random.times(random.int(1, 3), () => drawLife(random, planner));
  const starts = random.times(8, () => drawStart(random));
  const drainTimeoutMs = random.pick([0, 5, 30, 10_000]);
  const generations: Generation[] = [];

  let isCalm = false;
  let started = 0;
  const nextStart = () => {
    started += 1;
    return isCalm ? CALM : (starts[started % starts.length] ?? CALM);
  };
  const environment: Environment = new Environment({
    name: "parent",
    clock: stage.clock,
    drainTimeoutMs,
    lifespan: lifespanOf(stage, () => environment, nextStart, generations),
  });
  const child: Environment = environment.child(overridesOf(stage, () => child, generations));

  for (const life of lives) {
    await live(stage, life, environment, child);
    await checkOver(stage, environment, generations);
  }
  isCalm = true;
  await probe(stage, random.int(2, 9), environment);
  await checkOver(stage, environment, generations);
  stage.counts.rounds += 1;
}

function drawLife(random: Random, planner: Planner): LifePlan {
  return {
    launches: random.times(random.int(1, 6), (index) => drawLaunch(random, planner, index)),
    events: random.times(random.int(0, 3), () => ({
      afterMs: random.int(0, 30),
      what: random.pick(["stop", "stop with a reason", "stop the child", "start"]),
    })),
    abortsAfterMs: random.int(0, 40),
  };
}

async function live(
  stage: Stage,
  life: LifePlan,
  environment: Environment,
  child: Environment,
): Promise<void> {
  const aborter = new AbortController();
  const abort = async (): Promise<void> => {
    await sleep(life.abortsAfterMs);
    stage.counts.aborts += 1;
    aborter.abort(new PlannedFailure("the abort of a signal"));
  };
  const happenings = [
    ...life.launches.map((plan) => launch(stage, plan, plan.isInChild ? child : environment, aborter.signal)),
    ...life.events.map((event) => happen(stage, event, environment, child)),
    abort(),
  ];
  await stage.within(Promise.all(happenings), "a life of the environment");
}

async function happen(
  stage: Stage,
  { afterMs, what }: Event,
  environment: Environment,
  child: Environment,
): Promise<void> {
  await sleep(afterMs);
  switch (what) {
    case "stop":
      return stop(stage, environment);
    case "stop with a reason":
      return stop(stage, environment, new PlannedFailure("a stop"));
    case "stop the child":
      return stop(stage, child);
    case "start":
      try {
        await child.start();
      } catch (error) {
        stage.expectFailure(error, "a start");
      }
  }
}

async function stop(stage: Stage, environment: Environment, reason?: unknown): Promise<void> {
  stage.counts.stops += 1;
  try {
    await stage.within(environment.stop(reason), "a stop");
  } catch (error) {
    stage.expectFailure(error, "a stop");
  }
}

/** Stops the environment, after which nothing may be left of it. */
async function checkOver(stage: Stage, environment: Environment, generations: Generation[]): Promise<void> {
  await stop(stage, environment);
  const { state } = environment;
  stage.check(state === "stopped" || state === "idle", () => `an environment is ${state} after its stop`);
  stage.checkQuiet("after a stop");
  await sleep(LATEST_ARRIVAL_MS);
  for (const generation of generations) generation.checkOver();
  generations.length = 0;
}

/** A run that needs every slot that there is at the same time, and the functions of the soak in full. */
async function probe(stage: Stage, concurrency: number, environment: Environment): Promise<void> {
  const { functions } = stage;
  const together = (name: string, count: number, call: (arrive: Arrive) => Promise<unknown>) => {
    let missing = count;
    let open!: () => void;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const arrive: Arrive = () => {
      missing -= 1;
      if (missing === 0) open();
      return opened;
    };
    return stage.within(call(arrive), `${name} with all of its ${String(count)} slots in use`);
  };
  const app = new App({ name: "probe", environment, concurrency }, () =>
    mainOf(stage, concurrency, async (place) => {
      await together("a run", concurrency, (arrive) =>
        map(arrive, Array.from({ length: concurrency }).keys()),
      );
      for (const name of ["one", "three", "corrected", "gated", "batch"] as const) {
        const count = LIMITS[name];
        await together(name, count, (arrive) =>
          Promise.all(Array.from({ length: count }, () => functions.probes[name](place, arrive))),
        );
      }
    }),
  );
  stage.counts.runs += 1;
  try {
    await stage.within(app.run({ signal: stage.signal }), "a run after all others");
  } catch (error) {
    stage.fault(`a run after all others failed: ${String(error)}`);
  }
}
