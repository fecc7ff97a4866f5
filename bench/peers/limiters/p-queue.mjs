import PQueue from "p-queue";

export default {
  name: "p-queue",
  entry: import.meta.resolve("p-queue"),
  program: `export { default } from "p-queue";`,
  uses: "`add(task)` with `strict`; where nobody waits without it, which is cheaper",
  grants: "tasks",
  create({ rate, burst, waits }, task) {
    const queue = new PQueue({ intervalCap: burst, interval: (burst / rate) * 1000, strict: waits });
    return (signal) => (signal === undefined ? queue.add(task) : queue.add(task, { signal }));
  },
  cannot: {},
};
