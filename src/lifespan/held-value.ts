import type { AnyContextKey, ValueSource } from "../context/index.js";
import { EnvironmentStateError } from "./errors.js";
import type { Slot } from "./values.js";
import { closedError } from "./values.js";

type State =
  | { readonly name: "opening" }
  | { readonly name: "open"; readonly value: unknown }
  | { readonly name: "closed" };

/** A value that the lifespan has, or that it waits for. */
export class HeldValue implements Slot {
  readonly kind: "value" | "owned";
  readonly #key: AnyContextKey;
  readonly #source: ValueSource;
  #state: State = { name: "opening" };

  constructor(key: AnyContextKey, source: ValueSource, kind: "value" | "owned") {
    this.#key = key;
    this.#source = source;
    this.kind = kind;
  }

  get state(): string {
    return this.#state.name;
  }

  get closed(): boolean {
    return this.#state.name === "closed";
  }

  read(): unknown {
    const state = this.#state;
    if (state.name === "open") return state.value;
    throw state.name === "closed" ? closedError(this.#key, this.#source) : this.#notArrived();
  }

  #notArrived(): EnvironmentStateError {
    return new EnvironmentStateError(
      this.#source.name,
      this.#source.state,
      `The value of context key "${this.#key.name}" has not arrived yet: await builder.provideWith() first.`,
    );
  }

  owns(value: unknown): boolean {
    return this.kind === "owned" && this.#state.name === "open" && this.#state.value === value;
  }

  open(value: unknown): void {
    this.#state = { name: "open", value };
  }

  close(): void {
    this.#state = { name: "closed" };
  }
}
