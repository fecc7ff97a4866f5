import { currentFrame } from "../../context/index.js";

let never: AbortSignal | undefined;

/**
 * The signal of the calling code: aborted when its run is aborted, by its handle or at the end of a drain, and when a
 * time limit around it passes. Hand it to what takes one, such as `fetch`. Outside every run and limit it is a signal
 * that never aborts, the same one for all. A failed sibling in a fan-out does not abort it.
 *
 * @example
 * const answer = await fetch(url, { signal: useSignal() });
 */
export function useSignal(): AbortSignal {
  return currentFrame()?.scope?.signal ?? (never ??= new AbortController().signal);
}

/**
 * For long work that awaits nothing: throws when {@link useSignal} is aborted, else does nothing.
 *
 * @throws The reason of the abort, unchanged: by default a RunAbortedError (`RUN_ABORTED`).
 * @throws DeadlineExceededError (`DEADLINE_EXCEEDED`) when a time limit has passed.
 */
export function checkCancellation(): void {
  const scope = currentFrame()?.scope;
  if (scope?.aborted === true) throw scope.abortReason;
}
