/** One step on the way from a run down to what was mounted in it. */
export interface MountStep {
  /** The name of the function that was mounted; empty when it has none. */
  readonly name: string;
  /** The key of the item; undefined for `mount`. */
  readonly key: unknown;
}

/** What an exception handler is told of a failure. */
export interface ExceptionInfo extends MountStep {
  /**
   * From the run down to what has failed, which is the last step. Items of `map` in between make no step. Of a longer
   * way the last 32.
   */
  readonly path: readonly MountStep[];
  /** The name of the environment that the run is in. */
  readonly environment: string;
  /** What has mounted the work; "handler" when the error is what a handler further inside has thrown. */
  readonly source: "mount" | "mountEach" | "handler";
  /** With the source "handler": what the mounted work has thrown. */
  readonly original?: unknown;
}

/**
 * Is told of each failure of mounted work: what was thrown, itself, and where. When it returns, the failure is dealt
 * with. What it throws goes to the handler around it.
 */
export type ExceptionHandler = (error: unknown, info: ExceptionInfo) => void | PromiseLike<void>;

/** Handlers in the order in which they are asked: innermost first, each of them once. */
export type ExceptionHandlers = readonly ExceptionHandler[];

/** Puts handlers inside those around. Code that nests in itself does not make the list longer. */
export function nestHandlers(
  inner: ExceptionHandlers,
  around: ExceptionHandlers | undefined,
): ExceptionHandlers {
  return [...new Set([...inner, ...(around ?? [])])];
}
