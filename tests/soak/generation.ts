import { ContextKey, type Environment } from "../../src/index.js";
import type { Stage } from "./stage.js";

/** What programs find in the frame of their callers. */
export const TAG = new ContextKey<string>("soak/tag");
export const GENERATION = new ContextKey<Generation>("soak/generation");

let made = 0;

/** One start of an environment: what it has opened and not closed yet, in order. */
export class Generation {
  readonly tag: string;
  readonly environment: Environment;
  bodies = 0;
  readonly #stage: Stage;
  readonly #opened: string[] = [];
  readonly #parent: Generation | undefined;
  readonly #children = new Set<Generation>();
  #hasClosed = false;

  constructor(stage: Stage, environment: Environment, parent: Generation | undefined) {
    made += 1;
    this.tag = `${environment.name} ${String(made)}`;
    this.environment = environment;
    this.#stage = stage;
    this.#parent = parent;
    if (parent !== undefined) parent.#children.add(this);
  }

  get isOpen(): boolean {
    return !this.#hasClosed;
  }

  /** What is opened and must be closed again, once, before what was opened before it. */
  opened(name: string): void {
    this.#opened.push(name);
  }

  /** What was to be opened has failed, so there is nothing to close. */
  failedToOpen(name: string): void {
    this.#opened.splice(this.#opened.lastIndexOf(name), 1);
  }

  /** The code behind the yield. */
  left(): void {
    this.#checkEnding("the code after the yield");
    this.#stage.check(!this.#hasClosed, () => `${this.tag}: the code after the yield came after a closer`);
  }

  closed(name: string): void {
    const due = this.#opened.pop();
    this.#stage.check(due === name, () => `${this.tag}: ${name} was closed, and ${String(due)} is due`);
    this.#checkEnding(`the closer of ${name}`);
    this.#hasClosed = true;
    if (this.#opened.length === 0 && this.#parent !== undefined) this.#parent.#children.delete(this);
  }

  checkOver(): void {
    this.#stage.check(this.#opened.length === 0, () => {
      return `${this.tag}: never closed: ${this.#opened.join(", ")}`;
    });
  }

  #checkEnding(what: string): void {
    this.#stage.check(
      this.bodies === 0,
      () => `${what} of ${this.tag} ran beside ${String(this.bodies)} bodies`,
    );
    this.#stage.check(this.#children.size === 0, () => {
      return `${what} of ${this.tag} ran before its children were closed`;
    });
  }
}
