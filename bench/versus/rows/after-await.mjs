import { nsPerLookup } from "../lookup-time.mjs";

/** @type {Omit<import("../rows.mjs").Row, "name">} */
export default {
  of: "containers",
  title: "The same after an await",
  how: "Code that was handed nothing awaits a promise and then looks the value up: whether it is found, and the CPU time of one lookup.",
  rounds: 3,
  metrics: [
    { key: "found", label: "found", better: "yes" },
    { key: "ns", label: "CPU, ns", better: "less", digits: 1 },
  ],
  async measure(adapter) {
    const opened = await adapter.open({ n: 1 }, { ambient: true });
    try {
      await opened.lookUp(1, true);
    } catch {
      return { found: false };
    }
    return { found: true, ns: await nsPerLookup(opened, true) };
  },
};
