/**
 * Calls `onAbort` once with the signal's reason, at once when it is aborted already.
 *
 * @returns Stops following: a signal that outlives the work keeps nothing of it.
 */
export function followSignal(signal: AbortSignal, onAbort: (reason: unknown) => void): () => void {
  if (signal.aborted) {
    onAbort(signal.reason);
    return () => undefined;
  }
  const listener = (): void => {
    onAbort(signal.reason);
  };
  signal.addEventListener("abort", listener, { once: true });
  return () => {
    signal.removeEventListener("abort", listener);
  };
}
