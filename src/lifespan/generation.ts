import { deriveFrame, enterFrame, MissingContextError } from "../context/index.js";
import type { AnyContextKey, ExceptionHandler, Frame, ValueSource } from "../context/index.js";
import type { Clock } from "../clock.js";
import type { Lifespan } from "./builder.js";
import { spread, warnLate } from "./cleanup-errors.js";
import { LifespanError } from "./errors.js";
import { GenerationBuilder } from "./generation-builder.js";
import { LifespanParts } from "./lifespan-parts.js";
import type { Closer } from "./resource-stack.js";
import { ResourceStack } from "./resource-stack.js";
import { RunSet } from "./run-set.js";
import { withinLimit } from "./time-limit.js";
import { Values } from "./values.js";

/** What one start of an environment is made with. */
export interface GenerationPlan {
  readonly environment: string;
  readonly lifespan: Lifespan | undefined;
  readonly parent: ValueSource | undefined;
  readonly requires: readonly AnyContextKey[];
  readonly clock: Clock;
  readonly closeTimeoutMs: number | undefined;
  /** Aborted when the start shall not go on. */
  readonly signal: AbortSignal;
  /** Reads the state of the environment, for messages. */
  readonly state: () => string;
}

/** One start of an environment: what it opened, what runs in it, and how to close it. */
export class Generation {
  readonly values: Values;
  /** What the code of the lifespan runs in, whoever starts or stops the environment. */
  readonly frame: Frame;
  readonly runs = new RunSet();
  readonly #plan: GenerationPlan;
  readonly #stack = new ResourceStack();
  readonly #builder: GenerationBuilder;
  readonly #parts: LifespanParts;
  #last: { readonly key: string; readonly at: number } | undefined;

  constructor(plan: GenerationPlan) {
    const { environment, lifespan, clock } = plan;
    this.#plan = plan;
    this.values = new Values(environment, plan.parent, plan.state);
    this.frame = deriveFrame(undefined, { source: this.values });
    this.#builder = new GenerationBuilder({
      source: this.values,
      frame: this.frame,
      stack: this.#stack,
      signal: plan.signal,
      clock,
      lifespan,
      closeLate: (closer) => {
        this.#attempt(closer).catch((error: unknown) => {
          warnLate(environment, error);
        });
      },
      provided: (key) => {
        this.#last = { key, at: clock.now() };
      },
    });
    this.#parts = new LifespanParts(lifespan === undefined ? [] : [lifespan], environment, this.frame);
  }

  /** What the lifespan has set. */
  get exceptionHandler(): ExceptionHandler | undefined {
    return this.#builder.exceptionHandler;
  }

  /** Runs the lifespan up to its yield. Whether it succeeds or not, `close` must follow. */
  async open(): Promise<void> {
    const { opening } = this.#builder;
    await this.#parts.begin(this.#builder, () => {
      // A synchronous generator cannot wait for what it asks for.
      opening.require();
    });
    await opening.arrival();
    this.#builder.seal();
    if (this.#plan.signal.aborted) return;
    for (const key of this.#plan.requires) {
      if (this.values.find(key) === undefined && key.defaultValue === undefined) {
        throw new MissingContextError(key, this.values);
      }
    }
  }

  /**
   * Runs the code after the yield, with everything still open; then closes what is owned and what was deferred, last
   * first. All of it, whatever fails.
   *
   * @returns The errors, in the order in which they happened.
   */
  async close(): Promise<unknown[]> {
    this.#builder.seal();
    this.#builder.opening.abandon();
    const attempt = this.#attempt.bind(this);
    const errors = await this.#parts.finish(attempt);
    const closing = this.#stack.close(attempt, () => {
      this.#builder.finish();
      this.values.close();
    });
    errors.push(...(await closing));
    return errors.flatMap(spread);
  }

  /** How far a start has come, to follow "it did not come to its yield". */
  progress(now: number): string {
    const { keys } = this.#builder.opening;
    const opening = keys.length === 0 ? "" : ` Not arrived yet: ${keys.join(", ")}.`;
    if (this.#last === undefined) return `It has provided nothing so far.${opening}`;
    return `The last key it provided is "${this.#last.key}", ${String(now - this.#last.at)} ms before.${opening}`;
  }

  #attempt(closer: Closer): Promise<void> {
    const { clock, closeTimeoutMs, environment, lifespan } = this.#plan;
    return withinLimit(
      clock,
      closeTimeoutMs,
      () => enterFrame(this.frame, () => closer.close()),
      () =>
        new LifespanError(
          lifespan,
          environment,
          `could not be closed in time: ${closer.what} took longer than closeTimeoutMs (${String(closeTimeoutMs)} ms) ` +
            `and was left behind; everything else was closed.`,
        ),
    );
  }
}
