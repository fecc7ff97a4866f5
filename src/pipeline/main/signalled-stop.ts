import { bindContext } from "../../context/index.js";
import { abortRuns, type Environment } from "../../lifespan/index.js";
import { RunAbortedError } from "../errors.js";
import { comesOf } from "./failure-text.js";
import type { Host, StopSignal } from "./host.js";

const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };
const SIGNALS = Object.keys(EXIT_CODES) as StopSignal[];

/** How long a program that was told twice may take: who presses Ctrl-C twice does not want to wait. */
const FORCED_MS = 2_000;

interface Told {
  readonly signal: StopSignal;
  readonly reason: RunAbortedError;
  times: number;
}

/** The one stop of an environment at the end of a main program: after main, or begun before by a signal. */
export class SignalledStop {
  readonly #host: Host;
  readonly #environment: Environment;
  readonly #listener: (signal: StopSignal) => void;
  #told: Told | undefined;
  #stopped: Promise<void> | undefined;
  #disarm: (() => void) | undefined;

  /** Listens for signals from now on, until `leave`. */
  constructor(host: Host, environment: Environment) {
    this.#host = host;
    this.#environment = environment;
    // In the frame of the main program: Node calls the listeners of a signal in that of whoever listened for it first,
    // which may be code of a run, and a stop refuses to be called by what it waits for.
    this.#listener = bindContext((signal: StopSignal) => {
      this.#tell(signal);
    });
    for (const signal of SIGNALS) host.process?.on(signal, this.#listener);
  }

  /** The exit code of the signal that came first; undefined when none has come. */
  get exitCode(): number | undefined {
    return this.#told === undefined ? undefined : EXIT_CODES[this.#told.signal];
  }

  /** Whether a failure says no more than that a signal came. */
  hasCaused(failure: unknown): boolean {
    return this.#told !== undefined && comesOf(failure, this.#told.reason);
  }

  /** Stops the environment; joins the stop that a signal has begun. */
  stop(): Promise<void> {
    if (this.#stopped === undefined) {
      this.#stopped = this.#environment.stop(this.#told?.reason);
      // It may fail before the main program comes to wait for it.
      this.#stopped.catch(() => undefined);
    }
    return this.#stopped;
  }

  /** Takes the listeners back. */
  leave(): void {
    for (const signal of SIGNALS) this.#host.process?.off(signal, this.#listener);
    this.#disarm?.();
  }

  #tell(signal: StopSignal): void {
    const told = (this.#told ??= {
      signal,
      reason: new RunAbortedError(`The process was told to end by ${signal}.`),
      times: 0,
    });
    told.times += 1;
    switch (told.times) {
      case 1:
        this.#host.print(`${signal}: finishing what is in flight; again to force`);
        void this.stop();
        return;
      case 2:
        this.#host.print(`${signal}: aborting what is in flight; again to exit at once`);
        // First, for what is aborted may take the process away.
        this.#disarm = this.#host.clock.schedule(FORCED_MS, () => {
          this.#host.print(`${signal}: exiting, although not all has ended`);
          this.#exit();
        });
        abortRuns(this.#environment, told.reason);
        return;
      default:
        this.#exit();
    }
  }

  #exit(): void {
    this.#host.process?.exit(this.exitCode as number);
  }
}
