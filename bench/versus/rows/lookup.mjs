import { nsPerLookup } from "../lookup-time.mjs";

/** @type {Omit<import("../rows.mjs").Row, "name">} */
export default {
  of: "containers",
  title: "One lookup of a provided value",
  how: "CPU time of one lookup in a loop, in the scope that the library has for it: inside a run, in a fiber, or from a container that is at hand, which then has nothing to find out.",
  rounds: 5,
  metrics: [{ key: "ns", label: "CPU, ns", better: "less", digits: 1 }],
  async measure(adapter) {
    return { ns: await nsPerLookup(await adapter.open({ n: 1 }, { ambient: false }), false) };
  },
};
