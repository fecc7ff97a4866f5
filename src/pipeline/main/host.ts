import { type Clock, systemClock } from "../../clock.js";
import { printAbove } from "../progress/screen.js";
import { standardError } from "../progress/surroundings.js";

export type StopSignal = "SIGINT" | "SIGTERM";

/** The part of `process` that a main program has to do with. */
export interface HostProcess {
  exitCode?: number | string | null | undefined;
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  off(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  exit(code: number): unknown;
}

/** What a main program stands in. */
export interface Host {
  /** Undefined where there is none, as in a browser: then there are no signals and no exit code. */
  readonly process: HostProcess | undefined;
  /** What forcing is measured on: not that of an environment, which a test may have stopped. */
  readonly clock: Clock;
  /** Writes for people, to stderr where that exists. */
  print(text: string): void;
}

/** Where this code runs. */
export function realHost(): Host {
  const { process } = globalThis as { process?: Partial<HostProcess> };
  return {
    process: typeof process?.on === "function" ? (process as HostProcess) : undefined,
    clock: systemClock,
    print: (text) => {
      const stream = standardError();
      if (stream === undefined || !printAbove(stream, text)) console.error(text);
    },
  };
}
