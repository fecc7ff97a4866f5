/** Three resources, each needing the one before; the closers of two fail. */
import { setTimeout as sleep } from "node:timers/promises";

const NAMES = ["a", "b", "c"];
const FAILING = ["b", "c"];
/** Long enough that closers that run at the same time are seen to do so. */
const CLOSE_MS = 20;

/** All messages in an error and in those that it carries. */
function messagesOf(error) {
  if (!(error instanceof Error)) return [];
  const inner = [error.cause, error.error, error.suppressed, ...(error.errors ?? [])];
  return [error.message, ...inner.flatMap(messagesOf)];
}

export const faults = [
  {
    name: "disposal in creation order, in parallel, or losing errors",
    contestants: [
      { library: "awilix", make: "chain" },
      { library: "inversify", make: "chain" },
      { library: "tsyringe", make: "chain" },
      { library: "iti", make: "chain" },
      { library: "tidegate", module: "environment", make: "chain" },
    ],
    async probe(make) {
      const order = [];
      let open = 0;
      let atOnce = 0;
      const rejections = [];
      // What nobody waits for is lost, but must not end this process.
      process.on("unhandledRejection", (error) => rejections.push(error));
      const close = async (name) => {
        order.push(name);
        open += 1;
        atOnce = Math.max(atOnce, open);
        await sleep(CLOSE_MS);
        open -= 1;
        if (FAILING.includes(name)) throw new Error(`cannot close ${name}`);
      };
      const chain = await make(NAMES, close);
      let messages = "";
      try {
        await chain.dispose();
      } catch (error) {
        messages = messagesOf(error).join("\n");
      }
      await sleep(NAMES.length * 2 * CLOSE_MS);
      const reported = FAILING.filter((name) => messages.includes(`cannot close ${name}`));
      return { order: order.join(" "), atOnce, reported: reported.length, unhandled: rejections.length };
    },
    seen: ({ order, atOnce, reported }) =>
      order !== [...NAMES].reverse().join(" ") || atOnce > 1 || reported < FAILING.length,
    figure: ({ order, atOnce, reported, unhandled }) =>
      `closed ${order}; ${String(atOnce)} at once; ${String(reported)} of ${String(FAILING.length)} errors reported` +
      (unhandled > 0 ? `, ${String(unhandled)} unhandled` : ""),
  },
];
