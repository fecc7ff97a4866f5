import Bottleneck from "bottleneck";

export default {
  name: "bottleneck",
  entry: import.meta.resolve("bottleneck"),
  program: `export { default } from "bottleneck";`,
  uses: "`schedule(task)` with `minTime`; where nobody waits and above 1,000/s with a `reservoir`",
  grants: "tasks",
  create({ rate, burst, waits }, task) {
    // A sustained rate is better kept by minTime, which knows no burst, than by a reservoir, which is refilled every
    // 250 ms at most. But a timer for each job is no faster than one job in a millisecond.
    const isPaced = waits && rate <= 1_000;
    const amount = Math.max(burst, rate / 4);
    const limiter = isPaced
      ? new Bottleneck({ minTime: 1000 / rate })
      : new Bottleneck({
          reservoir: amount,
          reservoirRefreshAmount: amount,
          reservoirRefreshInterval: (amount / rate) * 1000,
        });
    return () => limiter.schedule(task);
  },
  cannot: { aborts: "no way to take one waiting job out" },
};
