import type { Scope } from "../cancellation/index.js";
import type { ExceptionHandlers } from "./exception-handler.js";
import type { AnyContextKey } from "./key.js";

/** A provided value as a lookup finds it. Reading one that is made on first use makes it. */
export interface ValueSlot {
  read(): unknown;
}

/** What a running environment is to a lookup. */
export interface ValueSource {
  readonly name: string;
  /** For messages: "running", "stopped" and so on. */
  readonly state: string;
  /** Finds a key here or in a parent. Throws when the values are closed, for a frame may outlive its environment. */
  find(key: AnyContextKey): ValueSlot | undefined;
  /** The keys that can be found, for messages. */
  keys(): readonly AnyContextKey[];
}

/**
 * What the calling code runs in. Never changed: a nested part of a call tree has a frame of its own. Other copies of
 * the package read it, so it holds plain data.
 */
export interface Frame {
  readonly source: ValueSource | undefined;
  /** Values set by `withContext`; they win over the environment's. */
  readonly overrides: ReadonlyMap<AnyContextKey, unknown> | undefined;
  /** What ends the waiting of this code. */
  readonly scope: Scope | undefined;
  /** The run that this code belongs to; lifespan knows what it is. */
  readonly run: unknown;
  /** The item of a fan-out that this code belongs to; pipeline knows what it is. */
  readonly item: unknown;
  /** Who is told of failures of what is mounted here. */
  readonly handlers: ExceptionHandlers | undefined;
}

const OUTSIDE: Frame = {
  source: undefined,
  overrides: undefined,
  scope: undefined,
  run: undefined,
  item: undefined,
  handlers: undefined,
};

/** A frame that differs from `frame` in `changes`; undefined stands for the frame outside everything. */
export function deriveFrame(frame: Frame | undefined, changes: Partial<Frame>): Frame {
  return { ...(frame ?? OUTSIDE), ...changes };
}
