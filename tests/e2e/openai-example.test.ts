import { expect, test } from "@jest/globals";
import { ROOT } from "../support/root.js";
import { runNode } from "../support/run-node.js";

interface Outcome {
  readonly seconds: number;
  readonly ok: number;
  readonly tooMany: number;
  readonly refusedByService: number;
  readonly quotaUsed: number;
}

test("the SDK behind a limited fetch meets no 429 and uses 90% of the quota, also when that is halved in mid-run", async () => {
  const { code, stdout, stderr } = await runNode(["--import", "tsx", "examples/openai/main.ts"], ROOT);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { items, halved, narrowed, ...steady } = JSON.parse(
    stdout.trim().split("\n").at(-1) ?? "",
  ) as Outcome & { items: number; halved: Outcome; narrowed: Outcome };
  expect(items).toBe(600);
  for (const outcome of [steady, halved, narrowed]) {
    expect(Object.keys(outcome)).toEqual(["seconds", "ok", "tooMany", "refusedByService", "quotaUsed"]);
    expect(outcome).toMatchObject({ ok: 600, tooMany: 0 });
    expect(outcome.quotaUsed).toBeGreaterThanOrEqual(0.9);
    // More would mean that the service's own count is wrong.
    expect(outcome.quotaUsed).toBeLessThanOrEqual(1);
  }
  // A budget that fits is hardly ever refused, on a machine that stalls; one that has become too large is.
  expect(steady.refusedByService).toBeLessThan(items / 20);
  expect(halved.refusedByService).toBeGreaterThan(items / 20);
  expect(narrowed.refusedByService).toBeLessThan(items / 20);
}, 90_000);
