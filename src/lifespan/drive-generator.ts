import { runInFrame } from "../context/index.js";
import type { Frame } from "../context/index.js";
import type { EnvironmentBuilder, Lifespan } from "./builder.js";
import { gather } from "./cleanup-errors.js";
import { LifespanError } from "./errors.js";

/**
 * Steps one lifespan: to its yield, and from there to its end. Every step runs in the frame of the environment, for a
 * generator otherwise runs in the frame of whoever steps it. It is ended with `next`, never with `return`, which would
 * skip the code after the yield.
 */
export class DrivenLifespan {
  readonly #lifespan: Lifespan;
  readonly #environment: string;
  readonly #frame: Frame | undefined;
  #generator: ReturnType<Lifespan> | undefined;

  constructor(lifespan: Lifespan, environment: string, frame: Frame | undefined) {
    this.#lifespan = lifespan;
    this.#environment = environment;
    this.#frame = frame;
  }

  /**
   * Runs the lifespan up to its yield.
   *
   * @param onYield - Called at the yield, in the same turn when the generator is a synchronous one.
   */
  async begin(builder: EnvironmentBuilder, onYield: () => void): Promise<void> {
    const generator: unknown = runInFrame(this.#frame, () => this.#lifespan(builder));
    if (!looksLikeGenerator(generator)) throw await this.#notAGenerator(generator);
    this.#generator = generator;
    const step = this.#step("next");
    if (!(step instanceof Promise)) onYield();
    if ((await step).done === true) {
      throw this.#error(
        "ended without a yield. It must yield once: after what it opens and before what it closes. Did you forget " +
          "the yield, or return before it?",
      );
    }
  }

  /** Runs the code after the yield. */
  async finish(): Promise<void> {
    if ((await this.#step("next")).done === true) return;
    const error = this.#error(
      "yielded a second time. It must yield once; what comes after the second yield was not run, except its finally " +
        "blocks.",
    );
    try {
      await this.#step("return");
    } catch (cause) {
      throw gather([error, cause], error.message);
    }
    throw error;
  }

  #step(step: "next" | "return"): IteratorResult<void> | Promise<IteratorResult<void>> {
    const generator = this.#generator as ReturnType<Lifespan>;
    return runInFrame(this.#frame, () => generator[step]());
  }

  // An async function without the * has begun to open things by now, so its end is waited for.
  async #notAGenerator(result: unknown): Promise<LifespanError> {
    const remedy =
      "is not a generator function. Write it as `async function* (builder) { …; yield; … }`: did you forget the * " +
      "or the yield?";
    try {
      await result;
      return this.#error(remedy);
    } catch (cause) {
      return this.#error(remedy, { cause });
    }
  }

  #error(problem: string, options?: ErrorOptions): LifespanError {
    return new LifespanError(this.#lifespan, this.#environment, problem, options);
  }
}

/** Also what compilers make of a generator for old targets, which has the methods and nothing else. */
export function looksLikeGenerator(value: unknown): value is ReturnType<Lifespan> {
  const methods = value as { readonly next?: unknown; readonly return?: unknown } | null | undefined;
  return typeof methods?.next === "function" && typeof methods.return === "function";
}
