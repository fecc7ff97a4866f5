import pThrottle from "p-throttle";

export default {
  name: "p-throttle",
  entry: import.meta.resolve("p-throttle"),
  program: `export { default } from "p-throttle";`,
  uses: "a throttled function with `strict`; where nobody waits and above 1,000/s without it, which is faster",
  grants: "tasks",
  create({ rate, burst, waits }, task) {
    // Strict calls are a millisecond apart at least, which is too slow for more than 1,000 a second.
    const strict = waits && rate <= 1_000;
    const throttled = pThrottle({ limit: burst, interval: (burst / rate) * 1000, strict })(task);
    return () => throttled();
  },
  cannot: { aborts: "one signal for the whole throttle, none for a call" },
};
