import { beforeAll, expect, test } from "@jest/globals";
import { ROOT } from "../support/root.js";
import { runNode } from "../support/run-node.js";
import type { Outcome } from "./support/time-limit-program.js";

// In a process of its own: the errors of an abort are of another realm under jest, and some clients ask by instanceof.

let outcomes: readonly Outcome[];

beforeAll(async () => {
  const program = "tests/e2e/support/time-limit-program.ts";
  const { code, stdout, stderr } = await runNode(["--import", "tsx", program], ROOT);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  outcomes = JSON.parse(stdout) as readonly Outcome[];
}, 60_000);

test.each(["OpenAI SDK", "Anthropic SDK", "Vercel AI SDK", "ky", "ofetch", "axios"])(
  "%s: a time limit that passes in the line is the client's own error, and the place is given up",
  (client) => {
    const outcome = outcomes.find((each) => each.client === client && each.retries === 0);
    expect(outcome).toMatchObject({ isOwnError: true, queued: 0, granted: 0, left: 1, sent: 0 });
  },
);

test.each([
  // These count a time limit that has passed as a failure to try again, and then stand at the end of the line.
  ["OpenAI SDK", 2],
  ["Anthropic SDK", 2],
  // The limit of these is on the whole call, or not tried again.
  ["Vercel AI SDK", 1],
  ["ky", 1],
])("%s with a retry of its own stands in the line so often: %i", (client, left) => {
  const outcome = outcomes.find((each) => each.client === client && each.retries === 1);
  expect(outcome).toMatchObject({ isOwnError: true, queued: 0, granted: 0, left, sent: 0 });
});
