import { AsyncQueuer, AsyncRateLimiter } from "@tanstack/pacer";

export default {
  name: "@tanstack/pacer",
  entry: import.meta.resolve("@tanstack/pacer"),
  program: `export { AsyncQueuer, AsyncRateLimiter } from "@tanstack/pacer";`,
  uses: "`AsyncQueuer` with `wait`; where nobody waits `AsyncRateLimiter`, which refuses instead of waiting",
  grants: "tasks",
  create({ rate, burst, waits }, task) {
    if (!waits) {
      const limiter = new AsyncRateLimiter(task, {
        limit: burst,
        window: (burst / rate) * 1000,
        windowType: "sliding",
      });
      return () => limiter.maybeExecute();
    }
    // An item gets no promise of its own, so that the caller's resolve function is the item. More than one at once
    // would not be a rate: each that ends starts as many as are allowed.
    const run = async (done) => done(await task());
    const queuer = new AsyncQueuer(run, { concurrency: 1, wait: 1000 / rate });
    return () => new Promise((resolve) => queuer.addItem(resolve));
  },
  cannot: { aborts: "no way to take one waiting item out" },
};
