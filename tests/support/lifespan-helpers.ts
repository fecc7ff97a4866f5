import type { EnvironmentBuilder } from "../../src/lifespan/index.js";

export { gate } from "./gate.js";

/** Lets every promise that can settle do so. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
}

/** Whether a promise has settled, and how. */
export async function outcome(promise: Promise<unknown>): Promise<"pending" | "fulfilled" | "rejected"> {
  let state: "pending" | "fulfilled" | "rejected" = "pending";
  promise.then(
    () => (state = "fulfilled"),
    () => (state = "rejected"),
  );
  await settle();
  return state;
}

/** What `f` rejects or throws with; fails the test when it does neither. */
export async function errorOf(f: () => unknown): Promise<Error & Record<string, unknown>> {
  try {
    await f();
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error("nothing was thrown");
}

/** A resource that writes its opening and closing into `log`. */
export class Resource implements AsyncDisposable {
  readonly name: string;
  readonly #log: string[];

  constructor(name: string, log: string[]) {
    this.name = name;
    this.#log = log;
    log.push(`open ${name}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.resolve();
    this.#log.push(`close ${this.name}`);
  }
}

/** A lifespan that does `open` and yields. */
export function opening(
  open: (builder: EnvironmentBuilder) => void | Promise<void>,
): (builder: EnvironmentBuilder) => AsyncGenerator<void, void, void> {
  return async function* opened(builder) {
    await open(builder);
    yield;
  };
}
