import { AsyncLocalStorage } from "node:async_hooks";
import type { Environment } from "../../../src/lifespan/index.js";
import { App, type RunHandle } from "../../../src/pipeline/index.js";

export { gate, type Gate } from "../../support/gate.js";

/** Lets every promise that can settle do so. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
}

/** A short wait, of a few turns. */
export async function tick(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
}

export const range = (count: number): number[] => [...Array(count).keys()];

/** A run under way of `main` as an app of `environment`. */
export function begin<R>(
  environment: Environment,
  main: () => R,
  concurrency?: number,
): RunHandle<Awaited<R>> {
  return new App({ name: "app", environment, concurrency }, main).run();
}

/** What became of a promise up to now. */
export async function stateOf(promise: PromiseLike<unknown>): Promise<unknown> {
  let state: unknown = "pending";
  promise.then(
    (value) => (state = { value }),
    (error: unknown) => (state = { error }),
  );
  await settle();
  return state;
}

/** The error that a promise rejects with. */
export async function errorOf(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("It has not failed.");
}

/** The error that a call throws. */
export function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("It has not thrown.");
}

/** Counts how many calls of a body run at once. */
export class Load {
  now = 0;
  peak = 0;

  async during<R>(body: () => Promise<R>): Promise<R> {
    this.now += 1;
    this.peak = Math.max(this.peak, this.now);
    try {
      return await body();
    } finally {
      this.now -= 1;
    }
  }
}

/** A user's own storage, which the library does not know of. */
export const userStorage = new AsyncLocalStorage<string>();

/** An endless source that counts what was asked of it. */
export class Counter implements Iterable<number> {
  pulled = 0;
  closed = 0;

  [Symbol.iterator](): Iterator<number> {
    return {
      next: () => ({ done: false, value: this.pulled++ }),
      return: () => {
        this.closed += 1;
        return { done: true, value: undefined };
      },
    };
  }
}
