import type { Clock } from "../clock.js";
import { currentFrame, requireKey } from "../context/index.js";
import type { AnyContextKey, ExceptionHandlers, ValueSource } from "../context/index.js";
import type { Lifespan } from "./builder.js";
import type { Core } from "./core.js";
import type { CountedRun } from "./environment-run.js";
import { EnvironmentRun } from "./environment-run.js";
import type { Generation } from "./generation.js";
import { Life } from "./life.js";
import type { Settings } from "./options.js";
import type { EnvironmentState } from "./phase.js";
import type { Run } from "./run.js";
import type { Slot, ValueDescription, Values } from "./values.js";
import { valueOf } from "./values.js";

/** What an environment is made of: its life, the runs in it, its values, its children. */
export class EnvironmentCore implements Core {
  readonly settings: Settings;
  readonly #environment: object;
  readonly #life: Life;

  /** @param environment - What runs call their environment. */
  constructor(environment: object, settings: Settings) {
    this.settings = settings;
    this.#environment = environment;
    this.#life = new Life(settings, this);
  }

  get clock(): Clock {
    return this.settings.clock;
  }

  get exceptionHandlers(): ExceptionHandlers {
    const own = this.#life.generation?.exceptionHandler;
    const outer = this.settings.parent?.exceptionHandlers ?? [];
    return own === undefined ? outer : [own, ...outer];
  }

  get state(): EnvironmentState {
    return this.#life.phase.name;
  }

  start(): Promise<void> {
    return this.#life.start();
  }

  stop(reason: unknown): Promise<void> {
    return this.#life.stop(reason);
  }

  shutDown(reason: unknown): Promise<void> {
    return this.#life.shutDown(reason);
  }

  waitsForCaller(): boolean {
    return this.#life.waitsForCaller();
  }

  drainWaitsForCaller(): boolean {
    return this.#isDrainingCaller() || this.settings.parent?.drainWaitsForCaller() === true;
  }

  replaceLifespan(lifespan: Lifespan): Lifespan | undefined {
    const before = this.#life.lifespan;
    this.#life.lifespan = lifespan;
    return before;
  }

  beginRun(): Run {
    const { values } = this.#admitting();
    this.settings.parent?.requireAdmission();
    return new EnvironmentRun({
      environment: this.#environment,
      source: values,
      clock: this.clock,
      handlers: this.exceptionHandlers,
      count: (run) => this.count(run),
    });
  }

  abortRuns(reason: unknown): void {
    this.#life.generation?.runs.abort(reason);
  }

  requireAdmission(): void {
    this.#admitting();
    this.settings.parent?.requireAdmission();
  }

  count(run: CountedRun): () => void {
    const { runs } = this.#life.generation as Generation;
    runs.add(run);
    // The stop of a parent waits for the runs of its children too.
    const uncount = this.settings.parent?.count(run);
    return () => {
      runs.delete(run);
      uncount?.();
    };
  }

  async ready(): Promise<void> {
    if (!this.#isDrainingCaller()) await this.#life.start();
  }

  adopt(child: Core): ValueSource {
    const { phase } = this.#life;
    if (phase.name === "running" || (phase.name === "stopping" && phase.step === "draining")) {
      this.#life.children.add(child);
      return (phase.generation as Generation).values;
    }
    throw this.#life.error("It was stopped while a child of it was starting.");
  }

  release(child: Core): void {
    this.#life.children.delete(child);
  }

  get(key: AnyContextKey): unknown {
    const values = this.#values();
    if (values !== undefined) return valueOf(values, key);
    throw this.#life.error(
      `It has no values now, so get() of context key "${requireKey(key).name}" ${START_FIRST}`,
    );
  }

  tryGet(key: AnyContextKey): unknown {
    const values = this.#values();
    const slot = values?.find(key) as Slot | undefined;
    if (slot !== undefined) return slot.closed ? undefined : slot.read();
    const { defaultValue } = requireKey(key);
    return values === undefined ? undefined : (defaultValue?.() as unknown);
  }

  describe(): readonly ValueDescription[] {
    return this.#life.generation?.values.describe() ?? [];
  }

  #values(): Values | undefined {
    return this.state === "starting" ? undefined : this.#life.generation?.values;
  }

  /** The start that the calling code may begin a run in. */
  #admitting(): Generation {
    const { phase } = this.#life;
    if (phase.name === "running") return phase.generation;
    if (phase.name === "stopping" && phase.generation !== undefined && this.#isDrainingCaller()) {
      return phase.generation;
    }
    throw this.#life.error(
      phase.name === "stopping"
        ? "It begins no more runs; await stop() and start it again."
        : `A run in it ${START_FIRST}`,
    );
  }

  /** Whether the calling code is part of a run that a stop under way lets come to its end. */
  #isDrainingCaller(): boolean {
    const { phase } = this.#life;
    return (
      phase.name === "stopping" &&
      phase.step === "draining" &&
      phase.generation?.runs.includes(currentFrame()) === true
    );
  }
}

const START_FIRST =
  "needs a running environment: await environment.start() first (app.run() does so by itself).";
