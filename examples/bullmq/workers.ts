import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { WorkerPlan } from "./plan.js";

const PROGRAM = fileURLToPath(new URL("worker.ts", import.meta.url));

/** Worker processes. Disposed of, each lets its jobs end and ends itself. */
export interface Workers extends AsyncDisposable {
  readonly pids: readonly number[];
  /** Aborts when the first of them has ended; the reason says which, and how. */
  readonly ended: AbortSignal;
}

/** Starts a process for each plan and waits until each of them takes jobs, or has ended. */
export async function startWorkers(plans: readonly WorkerPlan[]): Promise<Workers> {
  const oneEnded = new AbortController();
  const started = plans.map((plan) => {
    // In a group of its own: Ctrl-C is for who has started it, and tells it to stop.
    const child = fork(PROGRAM, [JSON.stringify(plan)], { detached: true });
    const ended = once(child, "exit").then(([code, signal]) => {
      oneEnded.abort(new Error(`${plan.name} has ended with ${String(code ?? signal)}.`));
    });
    return { child, ended, ready: once(child, "message") };
  });
  await Promise.all(started.map(({ ready, ended }) => Promise.race([ready, ended])));
  return {
    pids: started.map(({ child }) => child.pid as number),
    ended: oneEnded.signal,
    async [Symbol.asyncDispose]() {
      // One that has ended cannot be told, and need not be.
      for (const { child } of started) child.send("stop", () => undefined);
      await Promise.all(started.map(({ ended }) => ended));
    },
  };
}
