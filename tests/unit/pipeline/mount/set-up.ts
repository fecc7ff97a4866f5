import { jest } from "@jest/globals";
import { type EnvironmentBuilder, Environment } from "../../../../src/lifespan/index.js";
import type { ExceptionInfo } from "../../../../src/context/index.js";
import { gate, type Gate, range } from "../helpers.js";

export {
  begin,
  errorOf,
  gate,
  type Gate,
  Load,
  range,
  settle,
  stateOf,
  tick,
  userStorage,
} from "../helpers.js";

/** An environment that runs. */
export function running(
  name: string,
  set: (builder: EnvironmentBuilder) => void = () => undefined,
  options: { drainTimeoutMs?: number; parent?: Environment } = {},
): Promise<Environment> {
  return new Environment({
    name,
    ...options,
    lifespan: function* (builder) {
      set(builder);
      yield;
    },
  }).start();
}

/** Entries whose keys say which item it is. */
export const entries = (count: number): [string, number][] =>
  range(count).map((item) => [`k${String(item)}`, item]);

/** Calls that each wait for a gate of their own. */
export class Gates {
  readonly all: Gate[] = [];

  readonly wait = (): Promise<void> => {
    const mine = gate();
    this.all.push(mine);
    return mine.promise;
  };

  openAll(): void {
    for (const each of this.all) each.open();
  }
}

/** A handler that writes down what it hears. */
export class Heard {
  readonly errors: unknown[] = [];
  readonly infos: ExceptionInfo[] = [];

  readonly handler = (error: unknown, info: ExceptionInfo): void => {
    this.errors.push(error);
    this.infos.push(info);
  };
}

/** What is printed for people from now on. */
export function printed(): unknown[] {
  const lines: unknown[] = [];
  jest.spyOn(console, "error").mockImplementation((text) => {
    lines.push(text);
  });
  return lines;
}
