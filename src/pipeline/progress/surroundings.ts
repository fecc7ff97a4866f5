import type { ProgressStream } from "./screen.js";

interface HostProcess {
  readonly stderr?: Partial<ProgressStream> | null;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

function hostProcess(): HostProcess | undefined {
  return (globalThis as { process?: HostProcess }).process;
}

/** The standard error of the process; undefined where there is none, as in a browser. */
export function standardError(): ProgressStream | undefined {
  const stream = hostProcess()?.stderr;
  return typeof stream?.write === "function" ? (stream as ProgressStream) : undefined;
}

/** A variable of the environment of the process; undefined where it is not set, is empty, or may not be read. */
export function variable(name: string): string | undefined {
  try {
    return hostProcess()?.env?.[name] || undefined;
  } catch {
    return undefined; // a runtime that asks for permission
  }
}
