import type { Frame } from "../context/index.js";
import type { EnvironmentBuilder, Lifespan } from "./builder.js";
import { DrivenLifespan } from "./drive-generator.js";
import { nameOf } from "./errors.js";
import type { Closer } from "./resource-stack.js";
import { ResourceStack } from "./resource-stack.js";

const PARTS = Symbol.for("tidegate/lifespan-parts");

/** Marks a lifespan as composed of `parts`. */
export function markComposed(lifespan: Lifespan, parts: readonly Lifespan[]): void {
  Object.defineProperty(lifespan, PARTS, { value: parts });
}

/** The lifespans that a lifespan is composed of; itself when it is not composed. */
function partsOf(lifespan: Lifespan): readonly Lifespan[] {
  const parts = (lifespan as { [PARTS]?: readonly Lifespan[] })[PARTS];
  return parts?.flatMap(partsOf) ?? [lifespan];
}

/** Lifespans that are begun in order and finished reversed; those that came to their yield, that is. */
export class LifespanParts {
  readonly #parts: readonly Lifespan[];
  readonly #environment: string;
  readonly #frame: Frame | undefined;
  readonly #tails = new ResourceStack();

  constructor(lifespans: readonly Lifespan[], environment: string, frame: Frame | undefined) {
    this.#parts = lifespans.flatMap(partsOf);
    this.#environment = environment;
    this.#frame = frame;
  }

  /**
   * Begins one after the other; none after the builder's signal was aborted.
   *
   * @param onYield - See {@link DrivenLifespan.begin}.
   */
  async begin(builder: EnvironmentBuilder, onYield: () => void): Promise<void> {
    for (const part of this.#parts) {
      if (builder.signal.aborted) return;
      const driven = new DrivenLifespan(part, this.#environment, this.#frame);
      await driven.begin(builder, onYield);
      this.#tails.push({
        what: `the code after the yield of lifespan ${nameOf(part)}`,
        close: () => driven.finish(),
      });
    }
  }

  /** Runs the code after the yields. Returns the errors. */
  finish(attempt: (tail: Closer) => Promise<void>): Promise<unknown[]> {
    return this.#tails.close(attempt);
  }
}
