import { pRateLimit } from "p-ratelimit";

export default {
  name: "p-ratelimit",
  entry: import.meta.resolve("p-ratelimit"),
  program: `export { pRateLimit } from "p-ratelimit";`,
  uses: "`pRateLimit({ interval, rate })`",
  grants: "tasks",
  create({ rate, burst }, task) {
    const limit = pRateLimit({ interval: (burst / rate) * 1000, rate: burst });
    return () => limit(task);
  },
  cannot: { aborts: "a waiting call cannot leave" },
};
