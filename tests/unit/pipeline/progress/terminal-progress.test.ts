import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { ProgressDriver } from "../../../../src/pipeline/progress/driver.js";
import { printAbove } from "../../../../src/pipeline/progress/screen.js";
import { terminalProgress } from "../../../../src/pipeline/progress/terminal-progress.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { thrownBy } from "../helpers.js";
import { fnStats, limiter, reportOf } from "./support/reports.js";
import { Pipe, Terminal } from "./support/terminal.js";

const VARIABLES = ["CI", "TERM", "NO_COLOR"];
let before: (string | undefined)[];

beforeEach(() => {
  before = VARIABLES.map((name) => process.env[name]);
  setVariables({});
});

afterEach(() => {
  setVariables(Object.fromEntries(VARIABLES.map((name, index) => [name, before[index]])));
});

function setVariables(values: Readonly<Record<string, string | undefined>>): void {
  for (const name of VARIABLES) {
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- a variable that is undefined would be a text
    delete process.env[name];
    if (values[name] !== undefined) process.env[name] = values[name];
  }
}

const fetched = (done: number, failed = 0): ReturnType<typeof fnStats> =>
  fnStats("fetch", { done, failed, inFlight: 2, expected: 100 });

describe("on a terminal", () => {
  test("one block, redrawn at one write a time, that stays when the run has ended", () => {
    const stream = new Terminal(60);
    const reporter = terminalProgress({ stream, color: false });
    reporter.start?.(reportOf(0, [], [limiter("api")]));
    expect(stream.shown).toEqual(["crawl 0 s", "api  limit 50/s"]);
    reporter.update(reportOf(1_000, [fetched(10)], [limiter("api")]));
    expect(stream.shown).toEqual([
      "crawl 1 s",
      "fetch  10/100  ██░░░░░░░░░░░░░░░░░░░░░░  10%  2 in flight",
      "api  limit 50/s",
    ]);
    reporter.update(reportOf(2_000, [fetched(30)]));
    expect(stream.shown).toEqual([
      "crawl 2 s",
      "fetch  30/100  ██████░░░░░░░░░░░░░░░  30%  20/s  2 in flight",
    ]);
    reporter.stop?.(reportOf(4_500, [fnStats("fetch", { done: 99, failed: 1, expected: 100 })]), "done");
    stream.write("next\n");
    expect(stream.shown).toEqual([
      "crawl done in 4.5 s",
      "fetch  99/100  ███████████████████████  100%  22/s  1 failed",
      "next",
    ]);
    expect(stream.writes).toHaveLength(5);
  });

  test("the escapes: up, clear to the end, and no wrapping while it draws", () => {
    const stream = new Terminal();
    const reporter = terminalProgress({ stream, color: false });
    reporter.start?.(reportOf(0));
    reporter.update(reportOf(1_000, [fnStats("f")]));
    reporter.update(reportOf(2_000, [fnStats("f")]));
    reporter.stop?.(reportOf(2_000), "done");
    expect(stream.writes).toEqual([
      "\x1b[?7lcrawl 0 s\n\x1b[?7h",
      "\r\x1b[1A\x1b[J\x1b[?7lcrawl 1 s\nf  0\n\x1b[?7h",
      "\r\x1b[2A\x1b[J\x1b[?7lcrawl 2 s\nf  0\n\x1b[?7h",
      "\r\x1b[2A\x1b[Jcrawl done in 2 s\n",
    ]);
  });

  test("nothing is written when nothing has changed", () => {
    const stream = new Terminal();
    const reporter = terminalProgress({ stream });
    reporter.start?.(reportOf(0, [fetched(10)]));
    reporter.update(reportOf(100, [fetched(10)]));
    reporter.update(reportOf(999, [fetched(10)]));
    expect(stream.writes).toHaveLength(1);
    reporter.update(reportOf(999, [fetched(11)]));
    expect(stream.writes).toHaveLength(2);
  });

  test("lines for people go above the block and may wrap", () => {
    const stream = new Terminal(30);
    const reporter = terminalProgress({ stream, color: false });
    reporter.start?.(reportOf(0, [fnStats("f")]));
    reporter.log?.(`${"long ".repeat(8)}end\n  second`);
    reporter.update(reportOf(1_000, [fnStats("f", { done: 1 })]));
    reporter.log?.("third");
    reporter.stop?.(reportOf(2_000, [fnStats("f", { done: 1 })]), "failed");
    expect(stream.shown).toEqual([
      "long long long long long long",
      "long long end",
      "  second",
      "third",
      "crawl failed after 2 s",
      "f  1  30/min",
    ]);
  });

  test("two runs share a terminal: their blocks stand below each other, and the first to end leaves its own", () => {
    const stream = new Terminal(40);
    const [one, two] = [
      terminalProgress({ stream, color: false }),
      terminalProgress({ stream, color: false }),
    ];
    one.start?.({ ...reportOf(0, [fnStats("f")]), app: "one" });
    two.start?.({ ...reportOf(0, [fnStats("g")]), app: "two" });
    one.update({ ...reportOf(1_000, [fnStats("f", { done: 1 })]), app: "one" });
    expect(stream.shown).toEqual(["one 1 s", "f  1  1/s", "two 0 s", "g  0"]);
    one.stop?.({ ...reportOf(2_000), app: "one" }, "done");
    two.update({ ...reportOf(3_000, [fnStats("g", { done: 3 })]), app: "two" });
    two.stop?.({ ...reportOf(4_000, [fnStats("g", { done: 4 })]), app: "two" }, "aborted");
    expect(stream.shown).toEqual(["one done in 2 s", "two aborted after 4 s", "g  4  1/s"]);
  });

  test("many functions on few rows never scroll off what is redrawn, two runs neither", () => {
    const stream = new Terminal(60, 8);
    const many = (done: number): ReturnType<typeof fnStats>[] =>
      Array.from({ length: 20 }, (_, n) => fnStats(`f${String(n)}`, { done }));
    const [one, two] = [
      terminalProgress({ stream, color: false }),
      terminalProgress({ stream, color: false }),
    ];
    for (let at = 0; at < 5; at += 1) {
      if (at === 0) one.start?.(reportOf(0, many(0)));
      else one.update(reportOf(at * 1_000, many(at)));
      expect(stream.shown.length).toBeLessThanOrEqual(7);
    }
    expect(stream.shown).toHaveLength(7);
    two.start?.({ ...reportOf(0, many(0)), app: "two" });
    expect(stream.shown).toHaveLength(7);
    expect(stream.shown[4]).toBe("two 0 s"); // it leaves room for the first
    for (let at = 5; at < 9; at += 1) {
      one.update(reportOf(at * 1_000, many(at)));
      two.update({ ...reportOf(at * 1_000, many(at)), app: "two" });
    }
    expect(stream.shown).toHaveLength(6);
    expect(stream.shown[0]).toBe("crawl 8 s");
    expect(stream.shown[3]).toBe("two 8 s");
    two.stop?.({ ...reportOf(9_000), app: "two" }, "done");
    one.stop?.(reportOf(9_000, many(9)), "done");
    expect(stream.shown).toHaveLength(22); // the end is not redrawn: all of it is shown
    expect(stream.shown.slice(0, 3)).toEqual(["two done in 9 s", "crawl done in 9 s", "f0   9  1/s"]);
  });

  test("a terminal that becomes narrower has wrapped what was drawn", () => {
    const stream = new Terminal(60);
    const reporter = terminalProgress({ stream });
    const f = fnStats("f", { done: 1, failed: 2, inFlight: 3, expected: 10 });
    reporter.start?.(reportOf(0, [f]));
    expect(stream.shown[1]?.replace(/\x1b\[\d+m/g, "")).toHaveLength(60); // two rows of 30, colours apart
    stream.columns = 30;
    reporter.update(reportOf(1_000, [f]));
    expect(stream.writes[1]).toMatch(/^\r\x1b\[3A\x1b\[J/);
    stream.columns = 80;
    reporter.update(reportOf(2_000, [f]));
    expect(stream.writes[2]).toMatch(/^\r\x1b\[2A\x1b\[J/);
  });

  test("the option for columns may be more than the terminal has", () => {
    const stream = new Terminal(40);
    const reporter = terminalProgress({ stream, color: false, columns: 100 });
    stream.write("before\n");
    for (const done of [1, 2, 3]) reporter.update(reportOf(done * 1_000, [fetched(done)]));
    expect(stream.shown[0]).toBe("before");
    expect(stream.shown).toHaveLength(3);
  });

  test("what others print goes above the block, where there is one", () => {
    const stream = new Terminal(60);
    expect(printAbove(stream, "too early")).toBe(false);
    const reporter = terminalProgress({ stream, color: false });
    reporter.start?.(reportOf(0, [fetched(1)]));
    expect(printAbove(stream, "SIGINT")).toBe(true);
    reporter.update(reportOf(1_000, [fetched(2)]));
    expect(stream.shown[0]).toBe("SIGINT");
    expect(stream.shown).toHaveLength(3);
    reporter.stop?.(reportOf(1_000, [fetched(2)]), "done");
    expect(printAbove(stream, "too late")).toBe(false);
  });

  test("a reporter can show one run after another", () => {
    const stream = new Terminal();
    const reporter = terminalProgress({ stream, color: false });
    reporter.start?.(reportOf(0, [fnStats("f", { done: 3 })]));
    reporter.update(reportOf(900, [fnStats("f", { done: 40 })]));
    reporter.stop?.(reportOf(1_000, [fnStats("f", { done: 50 })]), "done");
    reporter.start?.(reportOf(0, [fnStats("f")]));
    reporter.update(reportOf(1_000, [fnStats("f", { done: 5 })]));
    expect(stream.shown).toEqual(["crawl done in 1 s", "f  50  50/s", "crawl 1 s", "f  5  5/s"]);
  });
});

describe("elsewhere", () => {
  test("plain lines: none at the start, one when something has changed, one at the end", () => {
    const stream = new Pipe();
    const reporter = terminalProgress({ stream });
    reporter.start?.(reportOf(0, [fetched(0), fnStats("parse")], [limiter("api")]));
    expect(stream.text).toBe("");
    const busy = limiter("api", { queued: 7, pausedForMs: 2_000 }, { grantedTokens: 50 });
    reporter.update(reportOf(5_000, [fetched(50, 1), fnStats("parse", { done: 45 })], [busy]));
    reporter.update(reportOf(10_000, [fetched(50, 1), fnStats("parse", { done: 45 })], [busy]));
    reporter.update(reportOf(15_000, [fetched(50, 1), fnStats("parse", { done: 45 })], [busy]));
    reporter.log?.("a line\nfor people");
    reporter.stop?.(
      reportOf(20_000, [
        fnStats("fetch", { done: 97, failed: 3, expected: 100 }),
        fnStats("parse", { done: 97 }),
      ]),
      "failed",
    );
    expect(stream.lines).toEqual([
      "crawl 5 s: fetch 50/100, 51%, 10/s, 1 failed, 2 in flight; parse 45, 9/s; api limit 50/s, 7 queued, paused 2 s, 3 s left",
      "crawl 10 s: fetch 50/100, 51%, 0/s, 1 failed, 2 in flight; parse 45; api limit 50/s, 7 queued, paused 2 s, 3 s left",
      "a line",
      "for people",
      "crawl failed after 20 s: 194 done, 3 failed; fetch 97/100, 100%, 5/s, 3 failed; parse 97, 4.9/s",
    ]);
  });

  test("of one function the totals are its own", () => {
    const stream = new Pipe();
    terminalProgress({ stream }).stop?.(reportOf(2_000, [fnStats("f", { done: 9, failed: 1 })]), "aborted");
    expect(stream.text).toBe("crawl aborted after 2 s: f 9, 5/s, 1 failed\n");
  });

  test("a run of which nothing is known", () => {
    const stream = new Pipe();
    const reporter = terminalProgress({ stream });
    reporter.start?.(reportOf(0));
    reporter.update(reportOf(5_000));
    reporter.stop?.(reportOf(7_000), "done");
    expect(stream.text).toBe("crawl done in 7 s\n");
  });

  test("twenty functions do not make a line of twenty", () => {
    const stream = new Pipe();
    const many = Array.from({ length: 20 }, (_, n) => fnStats(`f${String(n)}`, { inFlight: n, failed: 1 }));
    terminalProgress({ stream }).update(reportOf(5_000, many));
    expect(stream.text).toBe(
      "crawl 5 s: f15 0, 1 failed, 15 in flight; f16 0, 1 failed, 16 in flight; f17 0, 1 failed, 17 in flight; " +
        "f18 0, 1 failed, 18 in flight; f19 0, 1 failed, 19 in flight; and 15 more 15 failed\n",
    );
  });

  test("a reporter can show one run after another", () => {
    const stream = new Pipe();
    const reporter = terminalProgress({ stream });
    for (let run = 0; run < 2; run += 1) {
      reporter.start?.(reportOf(0, [fnStats("f")]));
      reporter.update(reportOf(5_000, [fnStats("f", { done: 5 })]));
    }
    expect(stream.lines).toEqual(["crawl 5 s: f 5, 1/s", "crawl 5 s: f 5, 1/s"]);
  });
});

describe("which of the two", () => {
  const isRedrawn = (options: object): boolean => {
    const stream = new Terminal();
    terminalProgress({ stream, ...options }).start?.(reportOf(0));
    return stream.writes.length > 0;
  };

  test.each([
    [{}, true],
    [{ CI: "true" }, false],
    [{ CI: "1" }, false],
    [{ CI: "" }, true],
    [{ CI: "false" }, true],
    [{ TERM: "dumb" }, false],
    [{ TERM: "xterm" }, true],
  ])("a terminal with %p: %p", (variables, expected) => {
    setVariables(variables);
    expect(isRedrawn({})).toBe(expected);
  });

  test("the option wins", () => {
    expect(isRedrawn({ redraw: false })).toBe(false);
    setVariables({ CI: "true", TERM: "dumb" });
    expect(isRedrawn({ redraw: true })).toBe(true);
    const pipe = new Pipe();
    terminalProgress({ stream: pipe, redraw: true, color: false }).start?.(reportOf(0));
    expect(pipe.text).toContain("\x1b[?7l");
  });

  test("each has its interval, unless told", () => {
    const stream = new Terminal();
    expect(terminalProgress({ stream }).intervalMs).toBeUndefined();
    expect(terminalProgress({ stream: new Pipe() }).intervalMs).toBe(5_000);
    expect(terminalProgress({ stream, intervalMs: 7 }).intervalMs).toBe(7);
    expect(terminalProgress({ stream: new Pipe(), intervalMs: 7 }).intervalMs).toBe(7);
  });

  test.each([
    [{}, {}, true],
    [{ NO_COLOR: "1" }, {}, false],
    [{ NO_COLOR: "0" }, {}, false],
    [{ NO_COLOR: "" }, {}, true],
    [{ NO_COLOR: "1" }, { color: true }, true],
    [{}, { color: false }, false],
  ])("colours with %p and %p: %p", (variables, options, expected) => {
    setVariables(variables);
    const stream = new Terminal();
    terminalProgress({ stream, ...options }).stop?.(reportOf(0, [fnStats("f", { failed: 1 })]), "done");
    expect(stream.writes.join("").includes("\x1b[31m1 failed\x1b[0m")).toBe(expected);
    expect(/\x1b\[\d+m/.test(stream.writes.join(""))).toBe(expected);
  });

  test("plain lines have none", () => {
    const stream = new Pipe();
    const reporter = terminalProgress({ stream, color: true });
    reporter.update(reportOf(0, [fnStats("f", { failed: 1 })]));
    reporter.stop?.(reportOf(0, [fnStats("f", { failed: 1 })]), "failed");
    expect(stream.text).not.toContain("\x1b");
  });
});

describe("options", () => {
  test.each([
    ["columns", 19, "an integer from 20 up"],
    ["columns", 40.5, "an integer from 20 up"],
    ["columns", Infinity, "an integer from 20 up"],
    ["columns", "80", "an integer from 20 up"],
    ["color", 1, "a boolean"],
    ["redraw", "yes", "a boolean"],
    ["intervalMs", 0, "a finite number of milliseconds above 0"],
    ["stream", {}, "a stream with write()"],
    ["stream", null, "a stream with write()"],
  ])("%s cannot be %p", (option, value, requirement) => {
    expect(thrownBy(() => terminalProgress({ [option]: value }))).toMatchObject({
      code: "ARGUMENT_INVALID",
      option,
      requirement,
    });
  });

  test("options must be an object", () => {
    expect(thrownBy(() => terminalProgress(null as never))).toMatchObject({ option: "options" });
  });

  test("columns win over the stream's", () => {
    const stream = new Terminal(80);
    const reporter = terminalProgress({ stream, columns: 20, color: false });
    reporter.start?.(reportOf(0, [fetched(10)]));
    expect(stream.shown).toEqual(["crawl 0 s", "fetch  10/100  10%"]);
  });
});

describe("without a standard error", () => {
  const realProcess = process;

  afterEach(() => {
    globalThis.process = realProcess;
  });

  test.each<[string, unknown]>([
    ["no process", undefined],
    ["a process without it", {}],
    ["one that cannot write", { stderr: {} }],
    ["one that is null", { stderr: null }],
  ])("nothing is shown and nothing fails: %s", async (_, fake) => {
    const log = jest.spyOn(console, "error");
    globalThis.process = fake as typeof process;
    const clock = new ManualClock();
    const driver = new ProgressDriver(true, "crawl", clock, () => reportOf(0).stats);
    driver.start();
    await clock.advance(500);
    expect(driver.log("line")).toBe(false);
    driver.stop("done");
    globalThis.process = realProcess;
    expect(clock.pending).toBe(0);
    expect(log).not.toHaveBeenCalled();
    log.mockRestore();
  });

  test("a stream can be shown to all the same", () => {
    globalThis.process = undefined as never;
    const stream = new Terminal();
    terminalProgress({ stream, color: false }).start?.(reportOf(0));
    globalThis.process = realProcess;
    expect(stream.shown).toEqual(["crawl 0 s"]);
  });

  test("variables that may not be read are not set", () => {
    const env = new Proxy({}, { get: () => { throw new Error("not allowed"); } }); // prettier-ignore
    globalThis.process = { env } as typeof process;
    const stream = new Terminal();
    terminalProgress({ stream }).start?.(reportOf(0));
    globalThis.process = realProcess;
    expect(stream.shown).toEqual(["crawl 0 s"]);
  });
});
