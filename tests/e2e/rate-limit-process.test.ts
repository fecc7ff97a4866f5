import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ProgramRunner } from "./rate-limit-program.js";

// What a limiter does to the process it lives in: how long it holds it, and that it does not kill it.

let programs: ProgramRunner;

beforeAll(async () => {
  programs = await ProgramRunner.create();
}, 60_000);

afterAll(async () => {
  await programs.remove();
});

/** Runs a program that prints the time of its last activity as it ends; gives the milliseconds from there to the exit. */
async function exitDelayMs(name: string, program: string): Promise<number> {
  const { code, stdout, stderr } = await programs.run(
    name,
    `import { RateLimiter } from "./tidegate.mjs"; ${program} console.log(Date.now());`,
  );
  const ended = Date.now();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return ended - Number(stdout);
}

test("F33: callers who wait hold the process until they are served", async () => {
  const { code, stdout, stderr } = await programs.run(
    "waits",
    `import { RateLimiter } from "./tidegate.mjs";
     const start = performance.now();
     const limiter = new RateLimiter({ maxRowsPerSecond: 2 });
     await Promise.all([limiter.acquire(), limiter.acquire(), limiter.acquire()]);
     console.log("after", performance.now() - start);`,
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const [word, elapsed] = stdout.trim().split(" ");
  expect(word).toBe("after");
  expect(Number(elapsed)).toBeGreaterThanOrEqual(500 - 0.01);
  expect(Number(elapsed)).toBeLessThan(1_000);
}, 20_000);

describe("F34: a limiter that nobody waits for lets the process go", () => {
  // The next token comes after 5 s, so a timer that is left would show.
  test("after three calls that were granted at once", async () => {
    const delay = await exitDelayMs(
      "idle",
      `const limiter = new RateLimiter({ maxRowsPerSecond: 0.2, burstWindowSecs: 20 });
       for (let call = 0; call < 3; call += 1) await limiter.acquire();`,
    );
    expect(delay).toBeLessThan(1_500);
  }, 20_000);

  test("after its only waiter was aborted", async () => {
    const delay = await exitDelayMs(
      "aborted",
      `const limiter = new RateLimiter({ maxRowsPerSecond: 0.2, burstWindowSecs: 0 });
       await limiter.acquire();
       const leave = new AbortController();
       setTimeout(() => leave.abort(), 100);
       await limiter.acquire(1, { signal: leave.signal, maxWaitMs: 60_000 }).catch(() => {});`,
    );
    expect(delay).toBeLessThan(1_500);
  }, 20_000);

  test("after it was closed with callers in line", async () => {
    const delay = await exitDelayMs(
      "closed",
      `const limiter = new RateLimiter({ maxRowsPerSecond: 0.2, burstWindowSecs: 0 });
       const calls = [limiter.acquire(), limiter.acquire(), limiter.acquire(1, { maxWaitMs: 60_000 })];
       limiter.close();
       await Promise.allSettled(calls);`,
    );
    expect(delay).toBeLessThan(1_500);
  }, 20_000);
});

describe("rejections in bulk that nobody awaits", () => {
  test.each([
    ["close", `limiter.close(new Error("over"));`],
    ["signal", `leave.abort(new Error("over"));`],
    ["scope", `scope.release(new Error("over"));`],
  ])(
    "%s: the process goes on, and who awaits sees the rejection",
    async (name, end) => {
      const result = await programs.evaluate(
        `bulk-${name}`,
        `import { RateLimiter, Scope, registry } from "./tidegate.mjs";
       const limiter = new RateLimiter({ maxRowsPerSecond: 0.01, burstWindowSecs: 0 });
       const leave = new AbortController();
       const scope = new Scope();
       registry().ambientScope = () => scope;
       await limiter.acquire();
       const calls = [];
       for (let call = 0; call < 1_000; call += 1) calls.push(limiter.acquire(1, { signal: leave.signal }));
       ${end}
       await new Promise((resolve) => setTimeout(resolve, 20));
       const seen = await calls[500].then(() => "granted", (reason) => (reason.cause ?? reason).message);
       console.log(JSON.stringify({ seen, stats: limiter.stats().aborted }));`,
      );
      expect(result).toEqual({ seen: "over", stats: 1_000 });
    },
    20_000,
  );

  test("a single call that fails and is not awaited is an ordinary unhandled rejection", async () => {
    const { code, stderr } = await programs.run(
      "unhandled",
      `import { RateLimiter } from "./tidegate.mjs";
       const limiter = new RateLimiter({ maxRowsPerSecond: 0.01, burstWindowSecs: 0 });
       limiter.tryAcquire();
       limiter.acquire(1, { maxWaitMs: 5 });`,
    );
    expect(code).toBe(1);
    expect(stderr).toContain("WaitTooLongError");
  }, 20_000);
});
