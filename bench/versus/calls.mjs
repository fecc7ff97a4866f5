/**
 * A limiter of an adapter at work: `granted` runs when a call is granted, whether the library hands out permits or runs
 * tasks, and the call's promise gives what it returned.
 *
 * @param {import("./adapters.mjs").LimiterAdapter} adapter
 * @param {import("./adapters.mjs").Shape} shape
 * @param {() => unknown} granted
 */
export async function limiterThat(adapter, shape, granted) {
  // Only tasks know when they begin: when their promise settles, others may have begun.
  if (adapter.grants === "tasks") {
    return adapter.create(shape, async () => granted());
  }
  const call = await adapter.create(shape);
  return (signal) => call(signal).then(granted);
}

/**
 * Lets callers wait, the first of them in a turn of their own: what is granted at once is seen when the turn is over, and
 * queueing all the others takes milliseconds.
 *
 * @param {import("./adapters.mjs").Call} call
 * @param {number} callers
 * @param {number} first
 */
export async function flood(call, callers, first) {
  const waits = Array.from({ length: first }, () => call());
  await new Promise((resolve) => setImmediate(resolve));
  while (waits.length < callers) waits.push(call());
  return Promise.all(waits);
}

/**
 * A limiter as it is used for its cost: a permit and nothing after it, or a task that does nothing.
 *
 * @param {import("./adapters.mjs").LimiterAdapter} adapter
 * @param {import("./adapters.mjs").Shape} shape
 */
export async function plainLimiter(adapter, shape) {
  return adapter.create(shape, async () => undefined);
}
