/// <reference lib="esnext.disposable" preserve="true" />
import type { Clock } from "../clock.js";
import { requireKey } from "../context/index.js";
import type { AnyContextKey, ContextKey, ExceptionHandler } from "../context/index.js";
import { InvalidArgumentError } from "../errors.js";
import { requireFunction } from "../internal/checks.js";
import { isThenable } from "../internal/thenable.js";
import type { EnvironmentBuilder } from "./builder.js";
import { EnvironmentStateError, LifespanError } from "./errors.js";
import { HeldValue } from "./held-value.js";
import type { LazyHome } from "./lazy-value.js";
import { LazyValue } from "./lazy-value.js";
import { OpeningResources } from "./opening-resources.js";
import type { Closer } from "./resource-stack.js";
import type { Slot, Values } from "./values.js";
import { valueOf } from "./values.js";

/** What the builder of one start needs of it. */
export interface BuilderHome extends LazyHome {
  readonly source: Values;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Closes now what came too late to be closed with the others. */
  closeLate(closer: Closer): void;
  /** Is told the name of each key as it is provided. */
  provided(key: string): void;
}

type Dispose<T> = (value: T) => void | PromiseLike<void>;

/** The builder of one start. */
export class GenerationBuilder implements EnvironmentBuilder {
  /** What has been asked for and has not arrived. */
  readonly opening = new OpeningResources();
  exceptionHandler: ExceptionHandler | undefined;
  readonly #home: BuilderHome;
  #stage: "open" | "sealed" | "over" = "open";

  constructor(home: BuilderHome) {
    this.#home = home;
  }

  get signal(): AbortSignal {
    return this.#home.signal;
  }

  get clock(): Clock {
    return this.#home.clock;
  }

  provide<T>(key: ContextKey<T>, value: NoInfer<T>, dispose?: Dispose<T>): T {
    requireKey(key);
    if (dispose === undefined) {
      const slot = new HeldValue(key, this.#home.source, "value");
      this.#add(key, slot);
      slot.open(value);
      this.#home.provided(key.name);
    } else {
      requireFunction("dispose", dispose);
      const slot = new HeldValue(key, this.#home.source, "owned");
      this.#admit(key, slot, value, () => dispose(value));
    }
    return value;
  }

  provideWith<T, V extends NoInfer<T> & (Disposable | AsyncDisposable)>(
    key: ContextKey<T>,
    resource: V | PromiseLike<V>,
  ): Promise<V> {
    return this.opening.follow(key, this.#receive(key, resource));
  }

  provideLazy<T>(key: ContextKey<T>, make: () => NoInfer<T>, dispose?: Dispose<T>): void {
    requireKey(key);
    requireFunction("make", make);
    if (dispose !== undefined) requireFunction("dispose", dispose);
    this.#add(key, new LazyValue(key, this.#home, make, dispose as Dispose<unknown> | undefined));
    this.#home.provided(key.name);
  }

  defer(cleanup: () => void | PromiseLike<void>): void {
    requireFunction("cleanup", cleanup);
    if (this.#stage === "over") throw this.#tooLate("defer()", "Defer while the environment is open.");
    this.#home.stack.push({ what: `the deferred cleanup ${cleanup.name || "(anonymous)"}`, close: cleanup });
  }

  get<T>(key: ContextKey<T>): T {
    return valueOf(this.#home.source, key) as T;
  }

  setExceptionHandler(handler: ExceptionHandler): void {
    requireFunction("handler", handler);
    if (this.#stage !== "open")
      throw this.#tooLate("setExceptionHandler()", "Call it before the lifespan yields.");
    if (this.exceptionHandler !== undefined) {
      throw new LifespanError(
        this.#home.lifespan,
        this.#home.source.name,
        "sets a second exception handler, and the first one would hear of nothing. Set one that calls both, or use " +
          "withExceptionHandler(handler, body) in a run.",
      );
    }
    this.exceptionHandler = handler;
  }

  /** From now on nothing more is provided. */
  seal(): void {
    if (this.#stage === "open") this.#stage = "sealed";
  }

  /** Everything is closed: what still arrives is closed on arrival. */
  finish(): void {
    this.#stage = "over";
  }

  // Runs up to its first await in the call of provideWith, so that a resource which is there is owned at once.
  async #receive<V extends Disposable | AsyncDisposable>(
    key: AnyContextKey,
    resource: V | PromiseLike<V>,
  ): Promise<V> {
    requireKey(key);
    const slot = new HeldValue(key, this.#home.source, "owned");
    if (!isThenable(resource)) {
      this.#admit(key, slot, resource, disposerOf(resource));
      return resource;
    }
    try {
      this.#add(key, slot);
    } catch (refused) {
      void this.#closeOnArrival(key, resource);
      throw refused;
    }
    let arrived: V;
    let dispose: () => unknown;
    try {
      arrived = await resource;
      dispose = disposerOf(arrived);
    } catch (error) {
      this.#home.source.remove(key);
      throw error;
    }
    slot.open(arrived);
    this.#own(key, slot, dispose);
    if (this.#stage !== "open")
      throw this.#tooLate(`The resource for key "${key.name}"`, "It is closed again.");
    return arrived;
  }

  async #closeOnArrival(
    key: AnyContextKey,
    resource: PromiseLike<Disposable | AsyncDisposable>,
  ): Promise<void> {
    try {
      const arrived = await resource;
      if (!this.#home.source.owns(key, arrived)) this.#own(key, undefined, disposerOf(arrived));
    } catch {
      // Nothing arrived, so there is nothing to close; the caller has the error of the refusal.
    }
  }

  /** Takes a value that is there under `key`. One that is refused is closed with the others, so that it cannot leak. */
  #admit(key: AnyContextKey, slot: HeldValue, value: unknown, dispose: () => unknown): void {
    try {
      this.#add(key, slot);
    } catch (refused) {
      if (!this.#home.source.owns(key, value)) this.#own(key, undefined, dispose);
      throw refused;
    }
    slot.open(value);
    this.#own(key, slot, dispose);
  }

  #add(key: AnyContextKey, slot: Slot): void {
    if (this.#stage !== "open") {
      throw this.#tooLate(
        `A builder's provide of context key "${key.name}"`,
        "Values are provided before the lifespan yields; for other values use environment.child() or withContext().",
      );
    }
    this.#home.source.add(key, slot);
  }

  #own(key: AnyContextKey, slot: HeldValue | undefined, dispose: () => unknown): void {
    const closer: Closer = {
      what: `the disposer of key "${key.name}"`,
      close: async () => {
        try {
          await dispose();
        } finally {
          slot?.close();
        }
      },
    };
    if (this.#stage === "over") this.#home.closeLate(closer);
    else this.#home.stack.push(closer);
    if (slot !== undefined) this.#home.provided(key.name);
  }

  #tooLate(what: string, remedy: string): EnvironmentStateError {
    const { name, state } = this.#home.source;
    return new EnvironmentStateError(name, state, `${what} came after the start. ${remedy}`);
  }
}

// The method is looked up now, as `await using` does, so that what has none is refused now.
function disposerOf(resource: unknown): () => unknown {
  const methods = resource as { readonly [name: symbol]: unknown } | null | undefined;
  const dispose = methods?.[Symbol.asyncDispose] ?? methods?.[Symbol.dispose];
  if (typeof dispose === "function") return () => dispose.call(resource) as unknown;
  throw new InvalidArgumentError(
    "resource",
    "an object with Symbol.asyncDispose or Symbol.dispose (for others: provide with a disposer)",
    resource,
  );
}
