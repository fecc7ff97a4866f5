/** @type {Omit<import("../rows.mjs").Row, "name">} */
export default {
  of: "containers",
  title: "A build that failed",
  how: "A value is built asynchronously and the build fails the first time: whether asking once more builds it again.",
  rounds: 1,
  metrics: [{ key: "retried", label: "built at the second try", better: "yes" }],
  async measure(adapter) {
    let builds = 0;
    const ask = adapter.asyncValue(async () => {
      builds += 1;
      if (builds === 1) throw new Error("The first build fails.");
      return { builds };
    });
    const outcomes = [];
    for (let attempt = 0; attempt < 2; attempt += 1) {
      try {
        outcomes.push((await ask()).builds);
      } catch {
        outcomes.push(0);
      }
    }
    if (outcomes[0] !== 0) throw new Error("The first build has not failed.");
    return { retried: outcomes[1] === 2 };
  },
};
