import { expect, test } from "@jest/globals";
import { ROOT } from "../support/root.js";
import { runNode } from "../support/run-node.js";

test("the example of a budget meets no 429, and uses at least 90% of the tighter quota", async () => {
  const { code, stdout, stderr } = await runNode(["--import", "tsx", "examples/llm-budget/main.ts"], ROOT);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const tally = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Record<string, number>;
  expect(Object.keys(tally)).toEqual(["items", "seconds", "ok", "tooMany", "quotaUsed"]);
  expect(tally).toMatchObject({ items: 160, ok: 160, tooMany: 0 });
  expect(tally.quotaUsed).toBeGreaterThanOrEqual(0.9);
  // More would mean that the service's own count is wrong.
  expect(tally.quotaUsed).toBeLessThanOrEqual(1);
  // Without a budget the service does refuse: it keeps its quotas.
  const refused = /^without budget +160 +[\d.]+ +\d+ +(\d+) /m.exec(stdout)?.[1];
  expect(Number(refused)).toBeGreaterThan(0);
}, 60_000);
