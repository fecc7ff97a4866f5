/** What "exact" means, in milliseconds: one nanosecond. */
export const EXACT_MS = 1e-6;

/** Compares doubles that were computed in two ways. */
export function expectExact(what: string, actual: number, expected: number, tolerance: number): void {
  const error = Math.abs(actual - expected);
  if (actual === expected || error <= tolerance + Math.abs(expected) * 1e-14) return;
  throw new Error(`${what}: ${String(actual)}, but the model has ${String(expected)}`);
}

/** Compares plain values and lists of numbers; called so often that jest's own comparison would take most of the time. */
export function expectSame(what: string, actual: unknown, expected: unknown): void {
  if (actual === expected || (Array.isArray(actual) && String(actual) === String(expected))) return;
  throw new Error(`${what}: ${String(actual)}, but the model has ${String(expected)}`);
}
