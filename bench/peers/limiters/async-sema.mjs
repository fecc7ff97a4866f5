import asyncSema from "async-sema";

export default {
  name: "async-sema",
  entry: import.meta.resolve("async-sema"),
  program: `export { RateLimit } from "async-sema";`,
  uses: "`RateLimit(n, { timeUnit })`",
  grants: "permits",
  create({ rate, burst }) {
    const acquire = asyncSema.RateLimit(burst, { timeUnit: (burst / rate) * 1000 });
    return () => acquire();
  },
  cannot: { aborts: "a waiting call cannot leave" },
};
