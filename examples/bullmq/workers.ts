import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { WorkerPlan } from "./plan.js";

const PROGRAM = fileURLToPath(new URL("worker.ts", import.meta.url));

/** Worker processes. Disposed of, each lets its jobs end and ends itself. */
export interface Workers extends AsyncDisposable {
  readonly pids: readonly number[];
  /** Aborts when one of them has ended that was not told to; the reason says which. */
  readonly lost: AbortSignal;
}

/**
 * Starts a process for each plan and waits until all of them take jobs.
 *
 * @throws Error when one of them ends before that.
 */
export async function startWorkers(plans: readonly WorkerPlan[]): Promise<Workers> {
  const lost = new AbortController();
  const running = new Map<ChildProcess, Promise<unknown>>();
  let isStopping = false;

  async function start(plan: WorkerPlan): Promise<void> {
    // In a group of its own: Ctrl-C is for who has started it, and tells it to stop.
    const child = fork(PROGRAM, [JSON.stringify(plan)], { detached: true });
    const ended = once(child, "exit").then(([code, signal]) => {
      running.delete(child);
      if (isStopping) return;
      lost.abort(new Error(`${plan.name} has ended with ${String(code ?? signal)}, and was not told to.`));
    });
    running.set(child, ended);
    await Promise.race([once(child, "message"), ended]);
    lost.signal.throwIfAborted();
  }

  async function stop(): Promise<void> {
    isStopping = true;
    // One that is ending cannot be told any more; then there is nothing to tell.
    for (const child of running.keys()) child.send("stop", () => undefined);
    await Promise.all(running.values());
  }

  try {
    await Promise.all(plans.map(start));
  } catch (error) {
    await stop();
    throw error;
  }
  const pids = [...running.keys()].map(({ pid }) => pid as number);
  return { pids, lost: lost.signal, [Symbol.asyncDispose]: stop };
}
