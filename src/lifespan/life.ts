import { currentFrame, runInFrame } from "../context/index.js";
import type { ValueSource } from "../context/index.js";
import { outwards } from "./begun-in.js";
import type { Lifespan } from "./builder.js";
import { gather, gatherFailedStart, spread, warnLate } from "./cleanup-errors.js";
import type { Core } from "./core.js";
import { Deferred } from "../internal/deferred.js";
import { EnvironmentStateError, LifespanError, STARTS_ITSELF, STOPS_ITSELF } from "./errors.js";
import { Generation } from "./generation.js";
import type { Settings } from "./options.js";
import type { Phase, Starting, Stopping } from "./phase.js";
import { stoppingOf } from "./phase.js";
import { unlessAborted } from "./time-limit.js";

/** The phases of one environment, and every way from one to the next. */
export class Life {
  lifespan: Lifespan | undefined;
  /** The children that have started and not closed, oldest first. */
  readonly children = new Set<Core>();
  readonly #settings: Settings;
  readonly #core: Core;
  #phase: Phase = { name: "idle" };

  /** @param core - What a parent knows the environment by. */
  constructor(settings: Settings, core: Core) {
    this.lifespan = settings.lifespan;
    this.#settings = settings;
    this.#core = core;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** What is open, or being opened or closed. */
  get generation(): Generation | undefined {
    return "generation" in this.#phase ? this.#phase.generation : undefined;
  }

  async start(): Promise<void> {
    const phase = this.#phase;
    switch (phase.name) {
      case "running":
        return;
      case "starting":
      case "stopping":
        if (this.waitsForCaller()) {
          throw this.error(STARTS_ITSELF);
        }
        return phase.name === "starting" ? phase.started.promise : this.#startAfter(phase);
      case "idle":
      case "stopped":
        return this.#begin();
    }
  }

  async stop(reason: unknown): Promise<void> {
    if (this.waitsForCaller()) {
      throw this.error(STOPS_ITSELF);
    }
    return this.shutDown(reason);
  }

  /** `stop()` without the question who calls it. */
  async shutDown(reason: unknown): Promise<void> {
    const phase = this.#phase;
    switch (phase.name) {
      case "idle":
      case "stopped":
        return;
      case "starting": {
        if (phase.hasFailed) {
          await phase.started.promise.catch(() => undefined); // the error is that of the start
          return;
        }
        const error = this.error(
          "The start was given up because stop() was called.",
          reason === undefined ? undefined : { cause: reason },
        );
        return this.#interrupt(phase, error, reason ?? error, "stopped").closed.promise;
      }
      case "running":
        return this.#close(phase.generation, reason);
      case "stopping":
        phase.stops += 1;
        return phase.closed.promise;
    }
  }

  /** Whether a start or stop under way, here or in a child, waits for the calling code. */
  waitsForCaller(): boolean {
    const { generation } = this;
    if (generation === undefined) {
      // A start may wait for the stop of a parent, and that for a run of the calling code.
      return this.#phase.name === "starting" && this.#settings.parent?.drainWaitsForCaller() === true;
    }
    if (generation.runs.includes(currentFrame())) return true;
    const isLifespanAtWork =
      this.#phase.name === "starting" || (this.#phase.name === "stopping" && this.#phase.step === "closing");
    if (isLifespanAtWork) {
      for (const { source, run } of outwards(currentFrame())) {
        // Without a run it is the lifespan, a closer or the making of a lazy value.
        if (source === generation.values && run === undefined) return true;
      }
    }
    return [...this.children].some((child) => child.waitsForCaller());
  }

  error(problem: string, options?: ErrorOptions): EnvironmentStateError {
    return new EnvironmentStateError(this.#settings.name, this.#phase.name, problem, options);
  }

  /** Where one phase gives way to the next. */
  #enter<P extends Phase>(phase: P): P {
    this.#phase = phase;
    if (phase.name === "idle" || phase.name === "stopped") this.#settings.parent?.release(this.#core);
    return phase;
  }

  async #startAfter(stopping: Stopping): Promise<void> {
    const { stops } = stopping;
    await stopping.closed.promise.catch(() => undefined); // its errors belong to those who stop
    if (stopping.stops !== stops) throw this.error("stop() was called while this start() waited.");
    return this.start();
  }

  #begin(): Promise<void> {
    const starting: Starting = {
      name: "starting",
      started: new Deferred<void>(),
      abort: new AbortController(),
      generation: undefined,
      hasFailed: false,
    };
    const { clock, startTimeoutMs } = this.#settings;
    const disarm =
      startTimeoutMs === undefined || startTimeoutMs === Infinity
        ? () => undefined
        : clock.schedule(startTimeoutMs, () => {
            this.#giveUp(starting, startTimeoutMs);
          });
    this.#enter(starting);
    void this.#bringUp(starting, disarm);
    return starting.started.promise;
  }

  async #bringUp(starting: Starting, disarm: () => void): Promise<void> {
    const { signal } = starting.abort;
    let failure: unknown;
    try {
      // Nothing is awaited without a parent: the lifespan begins in the call of start().
      const inherited = this.#settings.parent === undefined ? undefined : await this.#inherit(signal);
      const generation = (starting.generation = this.#generation(inherited, signal));
      await generation.open();
      signal.throwIfAborted();
      disarm();
      this.#enter({ name: "running", generation });
      starting.started.resolve();
      return;
    } catch (error) {
      failure = error;
    }
    disarm();
    starting.hasFailed = true;
    const errors = (await starting.generation?.close()) ?? [];
    if (this.#phase.name === "stopping") {
      // The start has rejected by now; what the lifespan threw since is its answer to that.
      this.#finish(this.#phase, errors);
    } else {
      this.#enter({ name: "idle" });
      starting.started.reject(gatherFailedStart(failure, errors));
    }
  }

  async #inherit(signal: AbortSignal): Promise<ValueSource> {
    const parent = this.#settings.parent as Core;
    await unlessAborted(signal, parent.ready());
    signal.throwIfAborted();
    return parent.adopt(this.#core);
  }

  #generation(parent: ValueSource | undefined, signal: AbortSignal): Generation {
    const { name, requires, clock, closeTimeoutMs } = this.#settings;
    return new Generation({
      environment: name,
      lifespan: this.lifespan,
      parent,
      requires,
      clock,
      closeTimeoutMs,
      signal,
      state: () => this.#phase.name,
    });
  }

  #giveUp(starting: Starting, limitMs: number): void {
    if (this.#phase !== starting) return;
    const progress =
      starting.generation?.progress(this.#settings.clock.now()) ?? "It still waited for its parent to start.";
    const error = new LifespanError(
      this.lifespan,
      this.#settings.name,
      `did not come to its yield within startTimeoutMs (${String(limitMs)} ms). ${progress}`,
    );
    const stopping = this.#interrupt(starting, error, error, "idle");
    stopping.closed.promise.catch((late: unknown) => {
      if (stopping.stops === 0) warnLate(this.#settings.name, late);
    });
  }

  /** Rejects the start at once; the lifespan is told, driven on to its yield or end, and then closed. */
  #interrupt(starting: Starting, error: Error, reason: unknown, next: Stopping["next"]): Stopping {
    const stopping = this.#enter(stoppingOf(starting.generation, "closing", next));
    starting.started.reject(error);
    runInFrame(starting.generation?.frame, () => {
      starting.abort.abort(reason);
    });
    return stopping;
  }

  #close(generation: Generation, reason: unknown): Promise<void> {
    const stopping = this.#enter(stoppingOf(generation, "draining", "stopped"));
    void this.#shut(stopping, generation, reason ?? this.error("It was stopped before this run had ended."));
    return stopping.closed.promise;
  }

  async #shut(stopping: Stopping, generation: Generation, reason: unknown): Promise<void> {
    const { clock, drainTimeoutMs } = this.#settings;
    const errors = await generation.runs.drain(reason, clock, drainTimeoutMs);
    stopping.step = "closing";
    for (const child of [...this.children].reverse()) {
      try {
        await child.shutDown(reason);
      } catch (error) {
        errors.push(...spread(error));
      }
    }
    errors.push(...(await generation.close()));
    this.#finish(stopping, errors);
  }

  #finish(stopping: Stopping, errors: readonly unknown[]): void {
    this.#enter({ name: stopping.next });
    if (errors.length === 0) stopping.closed.resolve();
    else
      stopping.closed.reject(gather(errors, `Environment "${this.#settings.name}" did not close cleanly.`));
  }
}
