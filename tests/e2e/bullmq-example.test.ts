import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Worker } from "bullmq";
import { RateLimiter, withContext } from "tidegate";
import { readOptions } from "../../examples/bullmq/options.js";
import { RATE_LIMIT, SERVICE_URL, embed } from "../../examples/bullmq/pipeline.js";
import { termsFor } from "../../examples/bullmq/plan.js";
import { Jobs, QUEUE, connectionTo } from "../../examples/bullmq/queue.js";
import { startRedis } from "../../examples/bullmq/redis.js";
import { shortfalls, summaryOf } from "../../examples/bullmq/summary.js";
import { startEmbeddingService } from "../../examples/quickstart/embedding-service.js";
import { describeWithRedis } from "../support/redis-server.js";
import { ROOT } from "../support/root.js";
import type { Finished } from "../support/run-node.js";
import { MainProgram } from "./support/main-program.js";

jest.setTimeout(90_000);
// The share of the quota that is used is real time: a machine that stands still for a second uses less.
jest.retryTimes(2, { logErrorsBeforeRetry: true });

interface Facts {
  readonly jobs: number;
  readonly done: number;
  readonly failed: number;
  readonly tooMany: number;
  readonly quotaUsed: number;
  readonly seconds: number;
  readonly workers: Readonly<Record<string, number>>;
}

const running: MainProgram[] = [];

afterEach(async () => {
  for (const program of running.splice(0)) await program.kill();
});

/** The example, with a line on stderr for each request that a worker sends and that the service has and answers. */
function start(...options: readonly string[]): MainProgram {
  const log = "./tests/e2e/support/log-http.ts";
  const args = ["--import", "tsx", "--import", log, "examples/bullmq/main.ts", ...options];
  const program = new MainProgram(process.execPath, args, ROOT);
  running.push(program);
  return program;
}

function factsOf({ stdout }: Finished): Facts {
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Facts;
}

function count(step: string, log: string): number {
  return log.split("\n").filter((line) => line.startsWith(`${step} `)).length;
}

function mostInFlight(log: string): number {
  let [inFlight, most] = [0, 0];
  for (const [, step] of log.matchAll(/^(sent|answered) /gm)) {
    inFlight += step === "sent" ? 1 : -1;
    most = Math.max(most, inFlight);
  }
  return most;
}

describeWithRedis("worker processes that share a budget", () => {
  const program = process.env["REDIS_SERVER"];
  let folder: string;
  let pidFile: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tidegate-bullmq-"));
    pidFile = join(folder, "pid");
    const recorder = join(folder, "redis-server");
    const lines = ["#!/bin/sh", `echo $$ > '${pidFile}'`, `exec '${program ?? "redis-server"}' "$@"`, ""];
    await writeFile(recorder, lines.join("\n"), { mode: 0o755 });
    process.env["REDIS_SERVER"] = recorder;
  });

  afterAll(async () => {
    if (program === undefined) delete process.env["REDIS_SERVER"];
    else process.env["REDIS_SERVER"] = program;
    await rm(folder, { recursive: true, force: true });
  });

  const pidOfServer = async (): Promise<number> => Number(await readFile(pidFile, "utf8"));

  /** Whoever has killed it may be gone before it is. */
  const serverEnds = async (): Promise<void> => {
    const pid = await pidOfServer();
    while (isRunning(pid)) await pass(10);
  };

  test("every job is done once, the service refuses none, and the quota is used to 90%", async () => {
    const ended = await start("--jobs", "900", "--workers", "2").ended;
    expect(ended.code).toBe(0);
    expect(count("sent", ended.stderr)).toBe(900);
    expect(count("arrived", ended.stderr)).toBe(900);
    expect(mostInFlight(ended.stderr)).toBeGreaterThan(6); // several of each worker
    const { quotaUsed, seconds, workers, ...counts } = factsOf(ended);
    expect(counts).toEqual({ jobs: 900, done: 900, failed: 0, tooMany: 0 });
    expect(quotaUsed).toBeGreaterThanOrEqual(0.9);
    // More would mean that the service's own count is wrong.
    expect(quotaUsed).toBeLessThanOrEqual(1);
    // 50 at once, the others at the rate.
    expect(seconds).toBeGreaterThan(4);
    expect(Object.keys(workers)).toEqual(["worker 1", "worker 2"]);
    const shares = Object.values(workers);
    expect(shares.reduce((sum, share) => sum + share)).toBe(900);
    for (const share of shares) expect(share).toBeGreaterThan(225);
    await serverEnds();
  });

  test("Ctrl-C lets the jobs in flight end, and nothing is left running", async () => {
    const example = start("--workers", "1");
    await example.says("answered http");
    example.tell("SIGINT");
    const toldAt = performance.now();
    const ended = await example.ended; // the workers hold its output too
    // All jobs take 10 s, those in flight a part of one.
    expect(performance.now() - toldAt).toBeLessThan(5_000);
    expect(ended.code).toBe(130);
    const { jobs, done, failed, tooMany } = factsOf(ended);
    expect({ jobs, failed, tooMany }).toEqual({ jobs: 2_000, failed: 0, tooMany: 0 });
    expect(done).toBe(count("sent", ended.stderr));
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(1_000);
    await serverEnds();
  });

  test("a worker that dies ends the run with 1, and the others end their jobs", async () => {
    const example = start("--workers", "2");
    await example.says("answered http");
    example.tell("SIGKILL", firstWorker(example));
    const ended = await example.ended;
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("Error: worker 1 has ended with SIGKILL.\n");
    const { jobs, failed, done } = factsOf(ended);
    expect({ jobs, failed }).toEqual({ jobs: 2_000, failed: 0 });
    expect(ended.stderr).toContain(`Of 2000 jobs only ${String(done)} are done.\n`);
    await serverEnds();
  });

  test("without its parent a worker ends at once", async () => {
    const example = start("--workers", "1");
    await example.says("answered http");
    const others = [await pidOfServer(), firstWorker(example)];
    example.tell("SIGKILL");
    try {
      // It holds the output too. All jobs would take 10 s.
      const isOver = example.ended.then(() => true);
      expect(await Promise.race([isOver, pass(5_000, false, { ref: false })])).toBe(true);
    } finally {
      for (const pid of others) if (isRunning(pid)) process.kill(pid, "SIGKILL");
    }
  });

  test("a run that is shorter than the burst is good for uses less of the quota: 1", async () => {
    const ended = await start("--jobs", "10", "--workers", "1").ended;
    expect(ended.code).toBe(1);
    expect(factsOf(ended)).toMatchObject({ jobs: 10, done: 10, failed: 0, workers: { "worker 1": 10 } });
    expect(ended.stderr).toMatch(/^Used is [\d.]+% of the quota, which is less than 90\.0%\.$/m);
    await serverEnds();
  });
});

describeWithRedis("the queue", () => {
  test("jobs that fail have ended too; nobody waits any more when the signal aborts", async () => {
    await using redis = await startRedis();
    await using jobs = new Jobs(redis.port);
    const work = ({ data }: { data: string }): Promise<number[]> =>
      data === "bad" ? Promise.reject(new Error("429")) : Promise.resolve([data.length]);
    const worker = new Worker(QUEUE, work, { connection: connectionTo(redis.port), name: "a" });
    await jobs.doAll(["good", "bad", "good"], new AbortController().signal);
    expect(await jobs.tally()).toEqual({ doneBy: { a: 2 }, done: 2, failures: ["429"] });
    await jobs.doAll(["good"], new AbortController().signal);
    expect(await jobs.tally()).toMatchObject({ done: 3 });
    await worker.close();
    const controller = new AbortController();
    const waiting = jobs.doAll(["good"], controller.signal);
    controller.abort("enough");
    await expect(waiting).rejects.toBe("enough");
    await expect(jobs.doAll(["good"], controller.signal)).rejects.toBe("enough");
  });
});

test("a text takes a token and is embedded; a refusal of the service is an error", async () => {
  await using service = await startEmbeddingService({ perSecond: 0.001, burst: 1 });
  const limiter = new RateLimiter({ maxRowsPerSecond: 10 });
  const embedOne = (text: string): Promise<number[]> =>
    withContext(RATE_LIMIT, limiter, () => withContext(SERVICE_URL, service.url, () => embed(text)));
  expect(await embedOne("tide")).toHaveLength(16);
  await expect(embedOne("tide")).rejects.toThrow("429 Too Many Requests");
  expect(limiter.stats().grantedTokens).toBe(2);
});

function firstWorker({ stdout }: MainProgram): number {
  return Number(/processes (\d+)/.exec(stdout)?.[1]);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("without a redis-server it says how to get one, and ends with 1", async () => {
  const before = process.env["REDIS_SERVER"];
  process.env["REDIS_SERVER"] = "/nowhere/redis-server";
  try {
    const { code, stdout, stderr } = await start().ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(
      'No redis-server at "/nowhere/redis-server". Install it (apt-get install redis-server, brew install redis), or ' +
        "set REDIS_SERVER to its path.\n",
    );
  } finally {
    if (before === undefined) delete process.env["REDIS_SERVER"];
    else process.env["REDIS_SERVER"] = before;
  }
});

describe("its options", () => {
  test("what is left out is the default; a rate may have a fraction", () => {
    expect(readOptions([])).toEqual({ jobs: 2_000, rate: 200, workers: 4 });
    expect(readOptions(["--jobs", "20000", "--rate=2.5", "--workers", "16"])).toEqual({
      jobs: 20_000,
      rate: 2.5,
      workers: 16,
    });
  });

  test.each([
    [["--jobs", "0"], '--jobs must be an integer from 1 to 20000; got "0".'],
    [["--jobs", "20001"], '--jobs must be an integer from 1 to 20000; got "20001".'],
    [["--rate", "1001"], '--rate must be a number from 1 to 1000; got "1001".'],
    [["--workers", "2.5"], '--workers must be an integer from 1 to 16; got "2.5".'],
    [["--workers", "17"], '--workers must be an integer from 1 to 16; got "17".'],
    [["--hosts", "4"], "Unknown option '--hosts'"],
  ])("%j is refused", (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });
});

test.each([
  [{ rate: 200, workers: 4 }, 15, 110],
  [{ rate: 100, workers: 7 }, 5, 60],
  [{ rate: 1, workers: 3 }, 1, 4],
])("%j: the service has room for the burst and for every job in flight", (options, concurrency, burst) => {
  expect(termsFor({ jobs: 1, ...options })).toEqual({
    concurrency,
    budget: { maxRowsPerSecond: 0.99 * options.rate, burstWindowSecs: 0.25 },
    quota: { perSecond: options.rate, burst },
  });
});

describe("the summary", () => {
  const good = {
    jobs: 20,
    ended: { done: 20, doneBy: { b: 9, a: 11 }, failures: [] },
    service: { seconds: 2, ok: 20, tooMany: 0, quotaUsed: 0.9 },
  };

  test("what is as it should be falls short of nothing; 90% is enough", () => {
    expect(shortfalls(good)).toEqual([]);
    expect(JSON.parse(summaryOf(good).split("\n").at(-1) ?? "")).toEqual({
      jobs: 20,
      done: 20,
      failed: 0,
      tooMany: 0,
      quotaUsed: 0.9,
      seconds: 2,
      workers: { a: 11, b: 9 },
    });
    expect(summaryOf(good)).toMatch(/^a: 11 jobs\nb: 9 jobs\nItems/m);
  });

  test("what is not gets a line each, and the first failures are shown", () => {
    const bad = {
      jobs: 20,
      ended: { done: 16, doneBy: { a: 16 }, failures: ["one", "two", "three", "four"] },
      service: { seconds: 2, ok: 16, tooMany: 4, quotaUsed: 0.89 },
    };
    expect(shortfalls(bad)).toEqual([
      "Of 20 jobs only 16 are done.",
      "The service has refused 4 requests.",
      "Used is 89.0% of the quota, which is less than 90.0%.",
    ]);
    expect(summaryOf(bad)).toMatch(/^failed: one\nfailed: two\nfailed: three\nand 1 more$/m);
  });
});
