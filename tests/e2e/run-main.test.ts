import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { build } from "esbuild";
import type { Finished } from "../support/run-node.js";
import { ROOT } from "../support/root.js";
import { MainProgram } from "./support/main-program.js";

// Whole programs and real signals. No test depends on how fast a program is: it says what it does, and is told then.

jest.setTimeout(90_000);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidegate-run-main-"));
  await build({
    entryPoints: [join(ROOT, "src/index.ts")],
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

/** Has `environment`, and what the programs say before and after. */
const BEFORE = `
  import { App, Environment, map, runMain, useSignal } from "./tidegate.mjs";
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const listeners = () => process.listenerCount("SIGINT") + process.listenerCount("SIGTERM");
  console.log("process", process.pid);
  const environment = new Environment({
    name: "test",
    async *lifespan() {
      console.log("open");
      yield;
      console.log("closed");
    },
  });
`;

/** Endless work. Its items end a little after the program was told to. */
const WORK = `${BEFORE}
  const held = setInterval(() => undefined, 1_000); // nothing else holds the process until it is told
  const told = new Promise((resolve) => process.on("SIGINT", resolve).on("SIGTERM", resolve));
  const item = async (n) => {
    console.log("start", n);
    await told;
    clearInterval(held);
    await pause(50);
    console.log("done", n);
  };
  function* endless() {
    for (let n = 0; ; n += 1) yield n;
  }
  const before = listeners();
  const app = new App({ name: "work", environment }, () => map(item, endless(), { concurrency: 2 }));
  await runMain(app);
  console.log("left", listeners() - before);
`;

const DRAINED = ["open", "start 0", "start 1", "done 0", "done 1", "closed", "left 0"];

/** An item that never ends, and listens to nothing. It holds the process. */
const DEAF = `${BEFORE}
  setInterval(() => undefined, 1_000);
  const item = () => new Promise(() => console.log("start"));
  await runMain(new App({ name: "work", environment }, () => map(item, [0, 1], { concurrency: 1 })));
`;

let programs = 0;

const running: MainProgram[] = [];

async function startProgram(
  code: string,
  runner: readonly string[] = [process.execPath],
): Promise<MainProgram> {
  const [command = "", ...args] = runner;
  programs += 1;
  const file = join(folder, `program-${String(programs)}.mjs`);
  await writeFile(file, code);
  const program = new MainProgram(command, [...args, file], folder);
  running.push(program);
  return program;
}

afterEach(async () => {
  for (const program of running.splice(0)) await program.kill();
});

/** What it said, without its pid. */
function linesOf({ stdout }: Finished): string[] {
  return stdout.trimEnd().split("\n").slice(1);
}

describe("without signals", () => {
  test("a program that ends well ends by itself, with 0, and leaves no listener", async () => {
    const program = await startProgram(`${BEFORE}
      const app = new App({ name: "work", environment }, (text) => console.log(text, listeners()), "main");
      await runMain(app);
      console.log("left", listeners(), process.exitCode);`);
    const ended = await program.ended;
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(linesOf(ended)).toEqual(["open", "main 2", "closed", "left 0 0"]);
  });

  test("a failure of main is printed with its causes, everything is closed, and the code is 1", async () => {
    const program = await startProgram(`${BEFORE}
      const main = () => {
        const cause = new TypeError("fetch failed", { cause: new Error("no route to host") });
        throw new AggregateError([new Error("page 1"), new RangeError("page 2")], "two pages", { cause });
      };
      await runMain(new App({ name: "work", environment }, main));
      console.log("left", listeners(), process.exitCode);`);
    const ended = await program.ended;
    expect(ended.code).toBe(1);
    expect(linesOf(ended)).toEqual(["open", "closed", "left 0 1"]);
    expect(ended.stderr).toMatch(/^ +at main \(.*program-\d+\.mjs:/m);
    expect(withoutFrames(ended.stderr)).toEqual([
      'App "work" failed.',
      "AggregateError: two pages",
      "  1 of 2: Error: page 1",
      "  2 of 2: RangeError: page 2",
      "caused by: TypeError: fetch failed",
      "caused by: Error: no route to host",
    ]);
  });

  test("a start that fails is printed, and the code is 1", async () => {
    const program = await startProgram(`${BEFORE}
      const broken = new Environment({
        async *lifespan(builder) {
          builder.defer(() => console.log("closed"));
          throw new Error("no database");
        },
      });
      await runMain(new App({ name: "work", environment: broken }, () => console.log("main")));
      console.log("left", listeners());`);
    const ended = await program.ended;
    expect(ended.code).toBe(1);
    expect(linesOf(ended)).toEqual(["closed", "left 0"]);
    expect(withoutFrames(ended.stderr)).toEqual(['App "work" failed.', "Error: no database"]);
  });

  test("a stop that fails is printed too, and the code is 1", async () => {
    const program = await startProgram(`${BEFORE}
      const broken = new Environment({
        async *lifespan() {
          yield;
          throw new Error("not flushed");
        },
      });
      await runMain(new App({ name: "work", environment: broken }, () => console.log("main")));
      console.log("left", listeners());`);
    const ended = await program.ended;
    expect(ended.code).toBe(1);
    expect(linesOf(ended)).toEqual(["main", "left 0"]);
    expect(withoutFrames(ended.stderr)).toEqual(['App "work" did not close cleanly.', "Error: not flushed"]);
  });
});

describe.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s", (signal, code) => {
  const finishing = `${signal}: finishing what is in flight; again to force\n`;
  const aborting = `${signal}: aborting what is in flight; again to exit at once\n`;

  test(`what is in flight finishes, nothing more starts, everything is closed, and the code is ${String(code)}`, async () => {
    const program = await startProgram(WORK);
    await program.says("start 1");
    program.tell(signal);
    const ended = await program.ended;
    expect(ended).toMatchObject({ code, stderr: finishing });
    expect(linesOf(ended)).toEqual(DRAINED);
  });

  test("while it starts: the lifespan is told, main does not begin", async () => {
    const program = await startProgram(`${BEFORE}
      const slow = new Environment({
        async *lifespan(builder) {
          const gone = new Promise((resolve) => builder.signal.addEventListener("abort", resolve));
          const held = setInterval(() => undefined, 1_000);
          builder.defer(() => clearInterval(held));
          builder.defer(() => console.log("closed"));
          console.log("opening");
          await gone;
          throw builder.signal.reason;
        },
      });
      await runMain(new App({ name: "work", environment: slow }, () => console.log("main")));
      console.log("left", listeners());`);
    await program.says("opening");
    program.tell(signal);
    const ended = await program.ended;
    expect(ended).toMatchObject({ code, stderr: finishing });
    expect(linesOf(ended)).toEqual(["opening", "closed", "left 0"]);
  });

  test("a second one aborts what is in flight; everything is closed all the same", async () => {
    const program = await startProgram(`${BEFORE}
      const held = setInterval(() => undefined, 1_000);
      const item = () => new Promise((_resolve, reject) => {
        useSignal().addEventListener("abort", () => {
          clearInterval(held);
          reject(new Error("aborted"));
        });
        console.log("start");
      });
      await runMain(new App({ name: "work", environment }, () => map(item, [0, 1], { concurrency: 1 })));
      console.log("left", listeners());`);
    await program.says("start");
    program.tell(signal);
    await program.says(finishing);
    program.tell(signal);
    const ended = await program.ended;
    expect(ended).toMatchObject({ code, stderr: finishing + aborting });
    expect(linesOf(ended)).toEqual(["open", "start", "closed", "left 0"]);
  });

  test("a second one ends a program within a short time although an item hangs", async () => {
    const program = await startProgram(DEAF);
    await program.says("start");
    program.tell(signal);
    await program.says(finishing);
    program.tell(signal);
    await program.says(aborting);
    const toldAt = performance.now();
    const ended = await program.ended;
    const tookMs = performance.now() - toldAt;
    expect(ended).toMatchObject({
      code,
      stderr: `${finishing}${aborting}${signal}: exiting, although not all has ended\n`,
    });
    expect(linesOf(ended)).toEqual(["open", "start"]);
    expect(tookMs).toBeLessThan(15_000);
  });

  test("a third one ends it at once", async () => {
    const program = await startProgram(DEAF);
    await program.says("start");
    program.tell(signal);
    await program.says(finishing);
    program.tell(signal);
    await program.says(aborting);
    program.tell(signal);
    const ended = await program.ended;
    expect(ended).toMatchObject({ code, stderr: finishing + aborting });
  });

  test("afterwards it kills the process, as where nobody listens", async () => {
    const program = await startProgram(`${BEFORE}
      await runMain(new App({ name: "work", environment }, () => undefined));
      setInterval(() => undefined, 1_000);
      console.log("over");`);
    await program.says("over");
    program.tell(signal);
    expect(await program.ended).toMatchObject({ code: null, stderr: "" });
  });
});

describe("under the tsx command", () => {
  const TSX = [process.execPath, join(ROOT, "node_modules/tsx/dist/cli.mjs")];

  test("a signal to the program drains it, and tsx ends with its code", async () => {
    const program = await startProgram(WORK, TSX);
    await program.says("start 1");
    program.tell("SIGTERM", program.pidSaid);
    const ended = await program.ended;
    expect(ended).toMatchObject({
      code: 143,
      stderr: "SIGTERM: finishing what is in flight; again to force\n",
    });
    expect(linesOf(ended)).toEqual(DRAINED);
  });

  test("a signal to tsx reaches the program, which ends with the code of the signal", async () => {
    // It kills a program whose answer it does not see within 30 ms, which happens on a busy machine.
    const tries = 5;
    for (let count = 1; count <= tries; count += 1) {
      const program = await startProgram(WORK, TSX);
      await program.says("start 1");
      program.tell("SIGTERM");
      const ended = await program.ended;
      expect(ended.code).toBe(143);
      const lines = linesOf(ended);
      if (lines.includes("closed") || count === tries) {
        expect(lines).toEqual(DRAINED);
        return;
      }
    }
  });
});

describe("as process 1 of a container", () => {
  const CONTAINER = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
  const [command = "", ...args] = CONTAINER;
  // Not every machine lets its users make one.
  const testInContainer = spawnSync(command, [...args, "true"]).status === 0 ? test : test.skip;

  testInContainer.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s drains it, although process 1 has no default actions", async (signal, code) => {
    const program = await startProgram(WORK, [...CONTAINER, process.execPath]);
    await program.says("start 1");
    expect(program.pidSaid).toBe(1);
    program.tell(signal, childOf(program.pid));
    const ended = await program.ended;
    expect(ended).toMatchObject({ code, stderr: `${signal}: finishing what is in flight; again to force\n` });
    expect(linesOf(ended)).toEqual(DRAINED);
  });
});

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, "utf8").trim());
}

/** The text of an error without the places in the code. */
function withoutFrames(text: string): string[] {
  return text
    .trimEnd()
    .split("\n")
    .filter((line) => !/^\s+at /.test(line));
}
