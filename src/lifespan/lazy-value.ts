import { runInFrame } from "../context/index.js";
import type { AnyContextKey, Frame, ValueSource } from "../context/index.js";
import { LifespanError } from "./errors.js";
import type { Closer, ResourceStack } from "./resource-stack.js";
import type { Slot } from "./values.js";
import { closedError } from "./values.js";

type State =
  | { readonly name: "not made" }
  | { readonly name: "making" }
  | { readonly name: "open"; readonly value: unknown }
  | { readonly name: "closed" };

/** What a lazy value needs of the start that it belongs to. */
export interface LazyHome {
  readonly source: ValueSource;
  readonly frame: Frame;
  readonly stack: ResourceStack;
  readonly lifespan: unknown;
}

const NOT_MADE: State = { name: "not made" };

/** The lazy values being made at this moment, outermost first: `make` is synchronous, so they nest. */
const making: LazyValue[] = [];

/** A value made at its first use. */
export class LazyValue implements Slot {
  readonly kind = "lazy";
  readonly #key: AnyContextKey;
  readonly #home: LazyHome;
  readonly #make: () => unknown;
  readonly #dispose: ((value: unknown) => unknown) | undefined;
  #state: State = NOT_MADE;

  constructor(
    key: AnyContextKey,
    home: LazyHome,
    make: () => unknown,
    dispose: ((value: unknown) => unknown) | undefined,
  ) {
    this.#key = key;
    this.#home = home;
    this.#make = make;
    this.#dispose = dispose;
  }

  get state(): string {
    return this.#state.name;
  }

  get closed(): boolean {
    return this.#state.name === "closed";
  }

  read(): unknown {
    switch (this.#state.name) {
      case "open":
        return this.#state.value;
      case "closed":
        throw closedError(this.#key, this.#home.source);
      case "making":
        throw this.#cycle();
      case "not made":
        return this.#makeIt();
    }
  }

  owns(): boolean {
    return false;
  }

  #makeIt(): unknown {
    this.#state = { name: "making" };
    making.push(this);
    let value: unknown;
    try {
      // Whoever asks first, with whatever overrides and time limit: everybody gets this value.
      value = runInFrame(this.#home.frame, this.#make);
    } catch (error) {
      this.#state = NOT_MADE;
      throw error;
    } finally {
      making.pop();
    }
    this.#state = { name: "open", value };
    const closer = this.#own(value);
    // Only a real promise: calling the `then` of a lazy thenable would start its work.
    if (value instanceof Promise) {
      value.then(undefined, () => {
        this.#forget(value, closer);
      });
    }
    return value;
  }

  #own(value: unknown): Closer | undefined {
    const dispose = this.#dispose;
    if (dispose === undefined) return undefined;
    const closer: Closer = {
      what: `the disposer of lazy key "${this.#key.name}"`,
      close: async () => {
        try {
          if (!(value instanceof Promise) || (await succeeds(value))) await dispose(value);
        } finally {
          this.#state = { name: "closed" };
        }
      },
    };
    this.#home.stack.push(closer);
    return closer;
  }

  #forget(value: unknown, closer: Closer | undefined): void {
    if (this.#state.name === "open" && this.#state.value === value) this.#state = NOT_MADE;
    if (closer !== undefined) this.#home.stack.remove(closer);
  }

  #cycle(): LifespanError {
    const path = making.slice(making.indexOf(this)).map((lazy) => lazy.#key.name);
    return new LifespanError(
      this.#home.lifespan,
      this.#home.source.name,
      `provides lazy values that need one another: ${[...path, this.#key.name].join(" -> ")}. Let one of them be ` +
        `made from something that is provided before it.`,
    );
  }
}

async function succeeds(promise: Promise<unknown>): Promise<boolean> {
  try {
    await promise;
    return true;
  } catch {
    return false;
  }
}
