/** Whether awaiting `value` would wait. */
export function isThenable(value: unknown): value is PromiseLike<unknown> & object {
  if (typeof value !== "object" && typeof value !== "function") return false;
  return typeof (value as { then?: unknown } | null)?.then === "function";
}
