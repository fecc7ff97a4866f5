import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { build } from "esbuild";
import { ROOT } from "../../support/root.js";
import { runNode } from "../../support/run-node.js";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidegate-fetch-"));
  await build({
    stdin: {
      contents: `export * from "./src/fetch/index.js"; export * from "./src/rate-limit/index.js";`,
      resolveDir: ROOT,
    },
    bundle: true,
    format: "esm",
    platform: "node",
    outfile: join(folder, "tidegate.mjs"),
    logLevel: "warning",
  });
}, 60_000);

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

// On the real clock, as this is about what is left in a process: a timer would hold it.
test.each([
  ["in line", ""],
  ["by itself", ", feedback: { isShared: () => false }"],
])(
  "F113: aborting a wait %s before a retry lets the process go, and leaves the pause",
  async (how, options) => {
    await writeFile(
      join(folder, "program.mjs"),
      `import { limitFetch, RateLimiter } from "./tidegate.mjs";
     const limiter = new RateLimiter({ maxRowsPerSecond: 10 });
     let sent = 0;
     const fetch = async () => {
       sent += 1;
       return new Response("", { status: 429, headers: { "retry-after": "30" } });
     };
     const leave = new AbortController();
     const started = performance.now();
     setTimeout(() => leave.abort("enough"), 1_000);
     const limited = limitFetch(limiter, { fetch${options} });
     const reason = await limited("https://api.test", { signal: leave.signal }).catch((reason) => reason);
     const tookMs = performance.now() - started;
     const result = { reason, sent, tookMs, pausedForMs: limiter.stats().pausedForMs, endedAt: Date.now() };
     console.log(JSON.stringify(result));`,
    );
    const { code, stdout, stderr } = await runNode(["program.mjs"], folder);
    const exitedAt = Date.now();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const result = JSON.parse(stdout) as Record<"tookMs" | "pausedForMs" | "endedAt", number>;
    expect(result).toMatchObject({ reason: "enough", sent: 1 });
    expect(result.tookMs).toBeGreaterThanOrEqual(990);
    expect(result.tookMs).toBeLessThan(2_000);
    expect(result.pausedForMs > 28_000).toBe(how === "in line");
    // 200 ms on an idle machine; a timer that is left would show as 29 s.
    expect(exitedAt - result.endedAt).toBeLessThan(1_500);
  },
  20_000,
);
