import { TokenBucket } from "limiter";

export default {
  name: "limiter",
  entry: import.meta.resolve("limiter"),
  program: `export { TokenBucket } from "limiter";`,
  uses: "`TokenBucket`, `removeTokens(1)`",
  grants: "permits",
  create({ rate, burst }) {
    const bucket = new TokenBucket({ bucketSize: burst, tokensPerInterval: rate, interval: 1000 });
    // A new bucket of it is empty; all others start full.
    bucket.content = burst;
    return () => bucket.removeTokens(1);
  },
  cannot: { aborts: "a waiting call cannot leave" },
};
